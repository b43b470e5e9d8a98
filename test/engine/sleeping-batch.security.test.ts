import type { IDataObject } from 'n8n-workflow';

import { newMemory } from '../../client/jobs/memory';
import {
	STORED_VERSION,
	type Role,
	type Message,
	type SleepState,
} from '../../nodes/shared/sleep/state';
import { startSandbox, type Sandbox } from '../../sandbox/server';
import type { Run } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { sleepToEnd, nextOf } from './asleep';
import { files, filesNodes } from './files-node';
import { items, openKeyedStage } from './keyed';
import { byId } from './stage';

const { stage, created, rows } = openKeyedStage({ extraNodes: filesNodes });

/** The service of an author who attacks the batches of others. */
let theirs: Sandbox;
beforeAll(async () => (theirs = await startSandbox({ timeScale: 100, generationSeconds: 1 })));
afterAll(async () => await theirs.close());
beforeEach(() => theirs.reset());

const secretPrompt = 'Secret plan';
const secretField = 'Secret field';
const secretFile = Buffer.alloc(40, 7).toString('base64');

const list = items(
	...[1, 2, 3].map((n): [string, string] => [`k${n}`, `${secretPrompt} ${n} [seconds: 300]`]),
).map((item) => ({
	...item,
	more: secretField,
	files: { data: { name: 'a.png', mimeType: 'image/png', bytes: 40 } },
}));

/** A batch of somebody else, asleep: one generation is running, two items are left. */
async function victim(): Promise<Run> {
	const step = ownNode(
		'Step',
		'imageGeneration',
		{
			model: byId('aurora-image-1'),
			prompt: '={{ $json.prompt }}',
			referenceInputs: { input: [{ source: 'binary', binaryPropertyName: 'data' }] },
			options: {
				idempotencyKey: '={{ $json.key }}',
				includeOtherFields: true,
				size: '256x256',
			},
			runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
		},
		{ id: 'the-node', onError: 'continueRegularOutput' },
	);
	const workflow = { ...inARow(files, step), id: 'the-workflow' };
	const run = await stage.runWorkflow(workflow, { items: list });
	expect(run.status).toBe('waiting');
	return run;
}

/** The state of a batch, as an author can write it who knows or guesses the ID of the execution. */
function forged({ executionId }: Run, changes: Partial<SleepState> = {}): SleepState {
	return {
		v: STORED_VERSION,
		execution: executionId,
		step: 'Step',
		run: 0,
		hasFiles: true,
		memory: newMemory('made-up', 1),
		over: false,
		stopped: false,
		wakeAt: 1,
		dead: 0,
		lastDeath: '',
		...changes,
	};
}

/** Runs the workflow of an author who uses the hidden parameter, with a credential for the author's own service. */
async function attack(role: Role, json: unknown, settings: IDataObject = {}): Promise<Run> {
	const parameters = { batchRole: role, model: byId('aurora-image-1'), prompt: 'x' };
	const node = { id: 'their-node', onError: 'continueRegularOutput' } as const;
	const step = ownNode('Step', 'imageGeneration', parameters, node);
	const workflow = { ...inARow(step), id: 'their-workflow', settings };
	const run = await stage.runWorkflow(workflow, {
		items: [{ json: json as IDataObject }],
		credential: { baseUrl: theirs.url, apiKey: theirs.keys.enterprise },
	});
	return await sleepToEnd(stage, run);
}

/** Everything that an execution, and the helper executions that it has started, show to their author. */
function shownBy(attack: Run): string {
	const shown: string[] = [];
	for (let id = Number(attack.executionId); ; id++) {
		const run = stage.engine.execution(String(id));
		if (!run) return shown.join('\n');
		const { state, workflow, logs } = run.record;
		shown.push(JSON.stringify([state, workflow, logs]), String(run.error?.stack));
	}
}

function expectNothingTaken(attack: Run): void {
	expect(theirs.requests.all.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
	const shown = shownBy(attack);
	const secrets = [secretPrompt, secretField, secretFile];
	expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
}

const message = (content: Message) => ({ sleepingBatchMessage: content });

/** The settings of a workflow whose author knows how helper workflows prove where they belong. */
const claims = (secret: unknown): IDataObject => ({
	mediaGeneration: { secret, successes: 'all', errors: 'all' } as IDataObject,
});
const wrongSecret = '00000000-0000-4000-8000-000000000000';

const attacks: Array<[Role, Partial<SleepState>]> = [
	['deliver', { over: true }],
	['sleep', {}],
	['wave', {}],
	['startWaves', {}],
	['report', {}],
	['collect', { over: true }],
	['return', {}],
	['return', { over: true, stopped: true }],
];

describe('a workflow of another author', () => {
	it('learns nothing of a sleeping batch through its hidden roles', async () => {
		const asleep = await victim();
		for (const [role, changes] of attacks) {
			const state = forged(asleep, changes);
			for (const settings of [{}, claims(wrongSecret)]) {
				expectNothingTaken(await attack(role, message({ state }), settings));
			}
		}
		const end = await sleepToEnd(stage, asleep);
		expect(end.output('Step').map(({ json }) => json.more)).toEqual(list.map(() => secretField));
		expect(created()).toBe(3);
		expect(rows()).toHaveLength(3);
	});

	it.each([undefined, null, ''])(
		'learns nothing of a batch that has no secret, because an older release stored it: %j',
		async (missing) => {
			const asleep = await victim();
			const { sleepingBatch } = asleep.contextData['node:Step'] as { sleepingBatch: IDataObject };
			expect(sleepingBatch.secret).toHaveLength(36);
			sleepingBatch.secret = missing;
			const state = forged(asleep, { over: true });
			for (const role of ['wave', 'deliver', 'return'] as const) {
				expectNothingTaken(await attack(role, message({ state }), claims(missing)));
			}
		},
	);

	it('ends with an error if it sends something else', async () => {
		const state = forged(await victim());
		const others: unknown[] = [
			null,
			[],
			'x',
			{ ...state, execution: {} },
			{ ...state, execution: undefined },
			{ ...state, step: '__proto__', run: '0' },
		];
		for (const role of ['deliver', 'sleep', 'wave', 'return'] as const) {
			for (const other of others) {
				const content = { state: other } as unknown as Message;
				const ended = await attack(role, message(content), claims(wrongSecret));
				expectNothingTaken(ended);
				expect(ended.nodeError('Step')?.message).toContain('step was not found');
			}
		}
	});
});

describe('the secret of a sleeping batch', () => {
	/** Everything that users see of all executions since the given one: items, errors, logs, and the nodes. */
	const visibleSince = (first: Run): string => {
		const seen: string[] = [];
		for (let id = Number(first.executionId); ; id++) {
			const run = stage.engine.execution(String(id));
			if (!run) return seen.join('\n');
			const { nodeExecutionStack } = run.record.state.data.executionData ?? {};
			const { flow } = run.contextData;
			const { nodes, connections, name } = run.record.workflow;
			seen.push(JSON.stringify([run.runData, nodeExecutionStack, flow, nodes, connections, name]));
			seen.push(JSON.stringify(run.record.logs), JSON.stringify(run.error), `${run.error?.stack}`);
		}
	};
	const secretOf = (run: Run) =>
		(run.contextData['node:Step'] as { sleepingBatch: { secret: string } }).sleepingBatch.secret;

	it('is in no item, error, log or node of that batch', async () => {
		const asleep = await victim();
		const secret = secretOf(asleep);
		const waves = JSON.stringify(nextOf(stage, asleep).record.workflow.settings);
		const end = await sleepToEnd(stage, asleep);
		expect([end.status, secretOf(end)]).toEqual(['success', secret]);
		// Its helper workflows have it.
		expect(waves).toContain(secret);
		expect(visibleSince(asleep).includes(secret)).toBe(false);
	});
});
