import type { Clock, Random } from '../../client/ports';
import type { CollectJob, CreateJob, Job } from '../../client/jobs/job';
import { newMemory, type Memory } from '../../client/jobs/memory';
import { Journal, type StoredOrder, type StoredOrders } from '../../client/orders/journal';
import { digest } from '../../client/orders/table';
import { SlotPool } from '../../client/orders/slot-pool';
import type { Outcome } from '../../client/jobs/outcome';
import {
	Pipeline,
	type PipelinePorts,
	type PipelineResult,
	type PipelineSettings,
} from '../../client/step/pipeline';
import { ServiceClient, type CreateRequest } from '../../client/api/client';
import { FakeService } from './fake-service';
import { VirtualTime } from './virtual-time';

export type CreateChanges = Partial<Omit<CreateJob, 'itemIndex'>>;
type CollectChanges = Partial<Omit<CollectJob, 'itemIndex'>>;

/** Returns a job that creates an image from a prompt. */
export function creating(prompt: string, itemIndex = 0, changes: CreateChanges = {}): CreateJob {
	return {
		kind: 'create',
		itemIndex,
		onUncertainCharge: 'error',
		...requesting({ type: 'image', body: { model: 'aurora-image-1', prompt } }),
		...forTests,
		...changes,
	};
}

/** Returns the fields of a job that sends this request. */
export function requesting(draft: CreateRequest) {
	const request = async () => await Promise.resolve(draft);
	return { digest: digest(JSON.stringify(draft)), draft, request };
}

/** Returns a job that waits for an existing generation. */
export function waitingFor(id: string, itemIndex = 0, changes: CollectChanges = {}): Job {
	return { kind: 'collect', itemIndex, id, ...forTests, ...changes };
}

const forTests = {
	wait: true,
	timeoutMs: 600_000,
	onTimeout: 'error',
	readiness: 'status',
} as const;

/** Returns jobs for the prompts `p0`, `p1` and so on. */
export function batch(size: number, changes: CreateChanges = {}): CreateJob[] {
	return Array.from({ length: size }, (_, index) => creating(`p${index}`, index, changes));
}

/** Summarizes an outcome: its kind and the generation's id. */
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

/** Returns the error of an outcome, and throws if the outcome is not an error. */
export function errorIn(outcome: Outcome<unknown> | undefined) {
	if (outcome?.kind !== 'error') throw new Error(`No error: ${JSON.stringify(outcome)}`);
	return outcome.error;
}

/** A step and the service that it uses, in virtual time. It can be run several times, as with Retry On Fail. */
export class Step {
	readonly time = new VirtualTime();
	readonly fake = new FakeService(this.time);
	/** The data that n8n stores for the step between its attempts. */
	readonly kept: StoredOrders = {};
	readonly settings: PipelineSettings = {
		maxConcurrent: 10,
		pollIntervalMs: 3000,
		stopOnError: true,
	};
	/** The source of jitter. */
	random: Random = () => 0;
	cancel = new AbortController();
	/** The clock that the step uses. */
	clock: Clock = this.time;
	/** The slots of the account, if this step shares them with other steps. */
	slots?: SlotPool;
	/** What earlier runs remember. */
	memory?: Memory;
	finish: PipelinePorts<string>['finish'] = async (_, generation) => ({
		generation,
		output: `file of ${generation.item.id}`,
	});

	constructor(settings: Partial<PipelineSettings> = {}) {
		Object.assign(this.settings, settings);
	}

	/** The orders that n8n stores for the step. */
	get orders(): StoredOrder[] {
		return Object.values(this.kept[0] ?? {}).flat();
	}

	/** Milliseconds of virtual time since this object was created. */
	get elapsed(): number {
		return this.time.now() - this.beginning;
	}

	private readonly beginning = this.time.now();

	/** Remembers that the step has slept, and since when it waits for generations: milliseconds since the Unix epoch. */
	sleptSince(since: number, ...ids: string[]): void {
		const waits = Object.fromEntries(ids.map((id) => [id, since]));
		this.memory = { ...newMemory('token', since), restedAt: since + 1, waits };
	}

	/** Stops this attempt, as a user does, `ms` milliseconds after this object was created. */
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

	/** Runs one attempt of the step. */
	async run(jobs: Job[]): Promise<PipelineResult<string>> {
		return await this.time.run(this.begin(jobs));
	}

	/** Starts one attempt of the step, possibly beside others. The caller runs the virtual time. */
	async begin(jobs: Job[]): Promise<PipelineResult<string>> {
		const service = this.service();
		const ports: PipelinePorts<string> = {
			service,
			probe: this.fake.probe,
			journal: new Journal(this.kept, 0),
			clock: this.clock,
			random: () => this.random(),
			slots: this.slots ?? new SlotPool({ clock: this.clock, random: () => this.random() }),
			cancel: this.cancel.signal,
			memory: this.memory,
			finish: async (...args) => await this.finish(...args),
		};
		return await new Pipeline(jobs, ports, this.settings).run();
	}

	/** Runs a later attempt of the step, as after an error or with "Retry execution". */
	async runAgain(jobs: Job[]): Promise<PipelineResult<string>> {
		this.cancel = new AbortController();
		return await this.run(jobs);
	}
}
