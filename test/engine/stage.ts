import { createHash } from 'node:crypto';
import type {
	IBinaryData,
	IDataObject,
	INode,
	INodeExecutionData,
	INodeParameters,
} from 'n8n-workflow';

import type { KeyName } from '../../sandbox/accounts/accounts';
import type { BookEntry } from '../../sandbox/books/books';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox, SandboxOptions } from '../../sandbox/server';
import type { CredentialsByType, EngineOptions, Run, WorkflowJson } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import type { NodeParts } from '../../tools/engine/in-a-row';
import { getBytes } from '../../tools/http';
import { FastTime } from '../support/fast-time';
import { ownNode, withOptions } from '../support/workflow';
import type { NodeName } from '../support/workflow';
import { createTestEngine } from './support/engine';
import type { TestEngine } from './support/engine';

/** Default speed of time for nodes and sandbox, relative to the wall clock. */
const PACE = 100;

/** Default duration of a generation, in seconds. */
const GENERATION_SECONDS = 2;

export interface StageOptions
	extends Pick<SandboxOptions, 'honorsIdempotencyKeys' | 'missingOutputStatus'> {
	binaryMode?: EngineOptions['binaryMode'];
	storageDir?: EngineOptions['storageDir'];
	extraNodes?: EngineOptions['extraNodes'];
	publicUrl?: EngineOptions['publicUrl'];
}

/** One run of one of our nodes, called `Step` in its workflow. */
export interface StepOrder {
	/** The JSON of each input item, or whole items; one empty item by default. */
	items?: Array<IDataObject | INodeExecutionData>;
	/** The node's settings, such as `retryOnFail` or `onError`. */
	settings?: Partial<INode>;
	/** Nodes between the trigger and the step. */
	before?: NodeParts[];
	/** The name of the API key; `main` by default. */
	key?: KeyName;
	/** Replaces credential data: the default is the sandbox's own address and that key. */
	credential?: IDataObject;
}

type Control = Pick<
	Parameters<TestEngine['run']>[1] & object,
	'mode' | 'onReady' | 'signal' | 'timeoutMs'
>;

/** Parameters of a cheap and fast step. A test adds the parameters under test. */
const usual: Partial<Record<NodeName, INodeParameters>> = {
	imageGeneration: {
		model: byId('lumen-turbo'),
		prompt: '={{ $json.prompt }}',
		options: { size: '64x64' },
	},
	videoGeneration: {
		model: byId('aurora-motion-1'),
		prompt: '={{ $json.prompt }}',
		resolution: '480p',
		duration: 0.1,
		options: { fps: 12 },
	},
};

/** Returns a model chosen by its ID. */
export function byId(value: string): INodeParameters {
	return { __rl: true, mode: 'id', value };
}

/** Returns one input item for each prompt. */
export function prompts(...texts: string[]): IDataObject[] {
	return texts.map((prompt) => ({ prompt }));
}

export function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

/** The sandbox, and n8n's engine with our nodes in it, for the tests of one `describe` or file. */
export class Stage {
	sandbox!: Sandbox;
	engine!: TestEngine;
	private time!: FastTime;

	async open(options: StageOptions): Promise<void> {
		const { binaryMode, storageDir, extraNodes, publicUrl, ...service } = options;
		this.time = new FastTime(PACE);
		const given = { ...service, clock: this.time, generationSeconds: GENERATION_SECONDS };
		this.sandbox = await startSandbox(given);
		this.engine = await createTestEngine({ binaryMode, storageDir, extraNodes, publicUrl });
	}

	/** Resets to empty books, no faults, and the default pace. */
	reset(): void {
		this.time.setPace(PACE);
		this.sandbox.reset();
	}

	/** Sets how many times faster than the wall clock time runs, until the end of the test. Default: the usual pace. */
	setPace(factor = PACE): void {
		this.time.setPace(factor);
	}

	/** Advances the clock at once by this many seconds, for the nodes and the service. */
	leap(seconds: number): void {
		this.time.leap(seconds);
	}

	/** Waits this many seconds of the nodes' time. With 0, waits for the next turn of the event loop. */
	async pass(seconds: number): Promise<void> {
		await this.time.sleep(seconds * 1000);
	}

	async close(): Promise<void> {
		this.time.stop();
		await this.engine.close();
		await this.sandbox.close();
	}

	credentials({ key = 'main', credential = {} }: StepOrder = {}): CredentialsByType {
		const { url, keys } = this.sandbox;
		return { mediaGenerationApi: { baseUrl: url, apiKey: keys[key], ...credential } };
	}

	/** Runs a workflow with one of our nodes in it. */
	async run(
		type: NodeName,
		parameters: INodeParameters = {},
		{ before = [], settings, ...order }: StepOrder & Control = {},
	): Promise<Run> {
		const step = ownNode('Step', type, withOptions(usual[type] ?? {}, parameters), settings);
		return await this.runWorkflow(inARow(...before, step), order);
	}

	async runWorkflow(
		workflow: WorkflowJson,
		{ items = [{}], key, credential, ...control }: StepOrder & Control = {},
	): Promise<Run> {
		return await this.engine.run(workflow, {
			...control,
			credentials: this.credentials({ key, credential }),
			input: items.map(asItem),
		});
	}

	/** Returns the bodies of the accepted creating requests, in order. */
	get bodies(): Array<Readonly<Record<string, unknown>>> {
		return this.sandbox.books.generations.map(({ request }) => request);
	}

	/** Returns the number of requests that arrived, at either origin. */
	get arrived(): number {
		return this.sandbox.requests.all.length;
	}

	/** Creates a generation in the sandbox as an earlier step would, and returns its ID. */
	async made(prompt: string): Promise<string> {
		const run = await this.run(
			'imageGeneration',
			{ waitForCompletion: false },
			{ items: prompts(prompt) },
		);
		return String(run.output('Step')[0].json.id);
	}

	/** Returns the JSON that the contract promises for a generation in the sandbox's books. */
	promised({ id, state, type, model, created }: BookEntry): IDataObject {
		const url = state === 'failed' ? null : (this.sandbox.service.outputUrl(id) ?? '');
		return {
			id,
			status: state,
			type,
			model,
			created: Math.floor(created / 1000),
			url,
			url_expires_at: url === null ? null : expiryOf(url),
			revised_prompt: null,
			timed_out: false,
		};
	}

	/** Returns the bytes that the storage serves for a generation. */
	async served(id: string): Promise<Buffer> {
		return (await getBytes(this.sandbox.service.outputUrl(id) ?? '')).data;
	}
}

/**
 * Opens a stage before the tests of this `describe` or file, and starts each with empty books. Whatever a test is
 * about, the API key may not have come to the storage.
 */
export function openStage(options: StageOptions = {}): Stage {
	const stage = new Stage();
	beforeAll(async () => await stage.open(options));
	afterAll(async () => await stage.close());
	beforeEach(() => stage.reset());
	afterEach(() => expect(stage.sandbox.requests.keysAtStorage).toEqual([]));
	return stage;
}

/** Returns the binary field of an item. Throws if there is none. */
export function binaryOf(item: INodeExecutionData | undefined, name = 'data'): IBinaryData {
	const field = item?.binary?.[name];
	if (!field) throw new Error(`The item has no binary field "${name}"`);
	return field;
}

function asItem(item: IDataObject | INodeExecutionData): INodeExecutionData {
	return isItem(item) ? item : { json: item };
}

function isItem(item: IDataObject | INodeExecutionData): item is INodeExecutionData {
	// Some nodes return an item with a file only.
	if ('json' in item && item.json === undefined) return true;
	return typeof item.json === 'object' && item.json !== null;
}

/** Returns when a URL with an S3 signature expires, from the date and lifetime in it. */
function expiryOf(url: string): string {
	const { searchParams } = new URL(url);
	const date = searchParams.get('X-Amz-Date') ?? '';
	const iso = date.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5');
	const lifetime = Number(searchParams.get('X-Amz-Expires'));
	return new Date(Date.parse(iso) + lifetime * 1000).toISOString();
}
