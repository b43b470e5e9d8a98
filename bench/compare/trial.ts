import { fingerprintOf } from '../../sandbox/accounts/accounts';
import type { BookEntry } from '../../sandbox/books/books';
import type { RequestRecord } from '../../sandbox/books/requests';
import { errorOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Workflow } from '../../tools/n8n/rest';
import type { Approach } from './approaches';
import { trigger, workflowOf } from './graph';
import type { Stage, StageAccount } from './stage';

/** How many videos a trial makes, and how long the service takes for each. */
export interface VideoOrder {
	videos: number;
	seconds: number;
	/** Maximum number of videos that the account may make at the same time. */
	limit: number;
}

/** About the size of a real video of a few seconds. */
const fileSize = '10MB';
const patienceMs = 3_600_000;
const lookEveryMs = 2_000;

/** One approach with a separate account and workflow. */
export class Trial {
	private constructor(
		private readonly stage: Stage,
		private readonly workflow: Workflow,
		private readonly account: StageAccount,
		readonly name: string,
		readonly prompts: string[],
	) {}

	/** @param purpose distinguishes the trials of an approach */
	static async prepare(
		stage: Stage,
		approach: Approach,
		purpose: string,
		{ videos, seconds, limit }: VideoOrder,
	): Promise<Trial> {
		const name = `${approach.key} ${purpose}`;
		const account = await stage.openAccount(name, approach, limit);
		const prompts = Array.from(
			{ length: videos },
			(_, index) =>
				`${name}, video ${index + 1} of ${videos} [seconds: ${seconds}] [size: ${fileSize}]`,
		);
		const steps = approach.steps(stage.sandbox.url);
		const file = workflowOf(name, prompts, steps, approach.edges);
		const workflow = await stage.rest.createWorkflow(file, account.credential);
		return new Trial(stage, workflow, account, name, prompts);
	}

	/** Starts the workflow and returns the id of the execution. */
	async start(): Promise<string> {
		return await this.stage.executions.run(this.workflow, trigger);
	}

	async run(): Promise<Execution> {
		return await this.ended(await this.start());
	}

	/** Waits until an execution has ended, and returns it. */
	async ended(id: string): Promise<Execution> {
		return await this.stage.executions.ended(id, patienceMs, lookEveryMs);
	}

	/** The generations that the account was charged for. */
	get generations(): BookEntry[] {
		return this.stage.sandbox.books.generations.filter(({ account }) => account === this.name);
	}

	/** The credits that the account was charged, minus refunds. */
	get credits(): number {
		return this.generations.reduce((sum, { charged, refunded }) => sum + charged - refunded, 0);
	}

	/** The requests with the account's key, and those for the files of its generations. */
	get requests(): RequestRecord[] {
		const fingerprint = fingerprintOf(this.account.key);
		const ids = new Set(this.generations.map(({ id }) => id));
		return this.stage.sandbox.requests.all.filter(
			({ keyFingerprint, origin, generationId }) =>
				keyFingerprint === fingerprint || (origin === 'storage' && ids.has(generationId ?? '')),
		);
	}

	/** @throws if a video was not downloaded, because then the figures cannot be compared */
	requireAll(execution: Execution): void {
		if (execution.status !== 'success') throw new Error(`${this.name}: ${errorOf(execution)}`);
		const come = new Set(
			this.requests
				.filter(({ on, status }) => on === 'download' && status === 200)
				.map(({ generationId }) => generationId),
		);
		if (come.size < this.prompts.length) {
			throw new Error(`${this.name}: ${come.size} of ${this.prompts.length} videos have come.`);
		}
	}
}
