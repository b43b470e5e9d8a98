import type { Clock, Random } from '../../client/ports';
import type { CollectJob, CreateJob, Job } from '../../client/job';
import {
	ExecutionJournal,
	type StoredOrder,
	type StoredOrders,
} from '../../client/orders/execution-journal';
import { SlotPool } from '../../client/orders/slot-pool';
import type { Outcome } from '../../client/outcome';
import {
	runPipeline,
	type PipelinePorts,
	type PipelineResult,
	type PipelineSettings,
} from '../../client/pipeline';
import { ServiceClient } from '../../client/api/client';
import { FakeService } from './fake-service';
import { VirtualTime } from './virtual-time';

export type CreateChanges = Partial<Omit<CreateJob, 'itemIndex'>>;
type CollectChanges = Partial<Omit<CollectJob, 'itemIndex'>>;

/** A job that creates an image of a prompt. */
export function creating(prompt: string, itemIndex = 0, changes: CreateChanges = {}): CreateJob {
	return {
		kind: 'create',
		itemIndex,
		onUncertainCharge: 'error',
		request: async () => ({ type: 'image', body: { model: 'aurora-image-1', prompt } }),
		...forTests,
		...changes,
	};
}

/** A job that waits for a generation that exists. */
export function waitingFor(id: string, itemIndex = 0, changes: CollectChanges = {}): Job {
	return { kind: 'collect', itemIndex, id, ...forTests, ...changes };
}

const forTests = {
	wait: true,
	timeoutMs: 600_000,
	onTimeout: 'error',
	readiness: 'status',
} as const;

/** Jobs for prompts `p0`, `p1` and so on. */
export function batch(size: number, changes: CreateChanges = {}): CreateJob[] {
	return Array.from({ length: size }, (_, index) => creating(`p${index}`, index, changes));
}

/** What an outcome comes to, in a word and the generation's id. */
export function inShort(outcome: Outcome<unknown>): string {
	switch (outcome.kind) {
		case 'done':
			return `${outcome.generation.status} ${outcome.generation.id}`;
		case 'error':
			return [outcome.error.code, outcome.error.generation?.id].filter(Boolean).join(' ');
		case 'stopped':
			return ['stopped', outcome.generation?.id].filter(Boolean).join(' ');
	}
}

/** The error of an outcome that has to be one. */
export function errorIn(outcome: Outcome<unknown> | undefined) {
	if (outcome?.kind !== 'error') throw new Error(`No error: ${JSON.stringify(outcome)}`);
	return outcome.error;
}

/** A step and the service that it uses, in virtual time. May be run several times, as Retry On Fail does. */
export class Step {
	readonly time = new VirtualTime();
	readonly fake = new FakeService(this.time);
	/** What n8n keeps of the step between its tries. */
	readonly kept: StoredOrders = {};
	readonly settings: PipelineSettings = {
		maxConcurrent: 10,
		pollIntervalMs: 3000,
		stopOnError: true,
	};
	/** Where jitter comes from. */
	random: Random = () => 0;
	cancel = new AbortController();
	/** What the step takes for the time. */
	clock: Clock = this.time;
	/** Of the account, where other steps share them. */
	slots?: SlotPool;
	/** Of all runs of it. */
	checks: PipelinePorts<string>['checks'];
	finish: PipelinePorts<string>['finish'] = async (_, generation) => ({
		generation,
		output: `file of ${generation.item.id}`,
	});

	constructor(settings: Partial<PipelineSettings> = {}) {
		Object.assign(this.settings, settings);
	}

	/** The orders that n8n keeps of the step. */
	get orders(): StoredOrder[] {
		return Object.values(this.kept[0] ?? {}).flat();
	}

	/** Milliseconds since the beginning of time. */
	get elapsed(): number {
		return this.time.now() - this.beginning;
	}

	private readonly beginning = this.time.now();

	/** The user stops this try so many milliseconds after the beginning. */
	stopAt(ms: number): void {
		const { cancel } = this;
		this.time.at(this.beginning + ms, () => cancel.abort());
	}

	service(): ServiceClient {
		return new ServiceClient({
			send: this.fake.send,
			clock: this.clock,
			random: () => this.random(),
			signal: this.cancel.signal,
		});
	}

	/** One try of the step. */
	async run(jobs: Job[]): Promise<PipelineResult<string>> {
		return await this.time.run(this.begin(jobs));
	}

	/** One try of the step, or one of several at once, while time is run by the caller. */
	async begin(jobs: Job[]): Promise<PipelineResult<string>> {
		const service = this.service();
		const ports: PipelinePorts<string> = {
			service,
			probe: this.fake.probe,
			journal: new ExecutionJournal(this.kept, 0),
			clock: this.clock,
			random: () => this.random(),
			slots: this.slots ?? new SlotPool({ clock: this.clock, random: () => this.random() }),
			cancel: this.cancel.signal,
			checks: this.checks,
			finish: async (...args) => await this.finish(...args),
		};
		return await runPipeline(jobs, ports, this.settings);
	}

	/** A later try of it, as after an error or by "Retry execution". */
	async runAgain(jobs: Job[]): Promise<PipelineResult<string>> {
		this.cancel = new AbortController();
		return await this.run(jobs);
	}
}
