import type { CreateJob } from '../../../client/jobs/job';
import { Ledger } from '../../../client/paying/ledger';
import type { Entry } from '../../../client/paying/book';
import { GenerationRecord } from '../../../client/paying/record';
import { runPipeline, type PipelineResult } from '../../../client/pipeline';
import { errorAnswer } from '../../../sandbox/basics/errors';
import { GenerationError } from '../../../client/wire/errors';
import { GenerationService } from '../../../client/wire/service';
import { breakages } from './faults';
import { promptOf, type KeyedWorld } from './keyed-world';
import type { Clock, ServiceRequest, ServiceResponse } from '../../../client/basics/ports';
import type { TableFate } from '../../support/memory-table';
import type { Planned } from './keyed-schedule';

export type Ran = PipelineResult<string>;

/** One execution in a process of its own: once that is killed, nothing that it waits for ever comes. */
export class KeyedExecution {
	private readonly clock: Clock;
	private readonly stop = new AbortController();
	private readonly writer: string;
	private tries = 0;
	private dead = false;
	private die: () => void = () => undefined;
	private readonly death = new Promise<null>((resolve) => (this.die = () => resolve(null)));

	constructor(
		private readonly world: KeyedWorld,
		private readonly planned: Planned,
	) {
		const { time } = world;
		this.writer = `writer-${++world.executions}`;
		this.clock = {
			now: () => time.now(),
			sleep: async (ms, signal) => {
				await time.sleep(ms, signal);
				if (this.dead) await new Promise<never>(() => undefined);
			},
		};
	}

	/** @returns what the last try came to; `null` where it was killed, or could not begin */
	async run(): Promise<Ran | null> {
		const { world, planned } = this;
		const { diesAfterMs, stopsAfterMs } = planned;
		const now = world.time.now();
		if (diesAfterMs !== null) world.time.at(now + diesAfterMs, () => this.kill());
		if (stopsAfterMs !== null) world.time.at(now + stopsAfterMs, () => this.stop.abort());
		return await Promise.race([this.runTries(), this.death]);
	}

	private kill(): void {
		const { world } = this;
		world.tell(`${this.writer} is killed`);
		world.deaths++;
		this.dead = true;
		for (const key of this.openKeys()) world.unsure.add(key);
		this.die();
	}

	/** Rows that it has sent, or may be about to, without an id. */
	private openKeys(): number[] {
		return this.world.table.rows
			.filter(({ writer, status }) => writer.startsWith(`${this.writer}.`) && status === 'sent')
			.map(({ key }) => Number(key));
	}

	private async runTries(): Promise<Ran | null> {
		const entries: Record<string, Entry> = {};
		let ran: Ran | null = null;
		for (let tried = 0; tried < this.planned.tries && !this.stop.signal.aborted; tried++) {
			ran = await this.runStep(entries).catch((error: unknown) => {
				if (error instanceof GenerationError && error.code === 'record_unavailable') return null;
				throw error;
			});
		}
		return ran;
	}

	private async runStep(entries: Record<string, Entry>): Promise<Ran> {
		const { world, clock, planned } = this;
		const { random, schedule } = world;
		const ports = { clock, random, signal: this.stop.signal };
		const store = world.table.reachedBy(clock, () => this.tableFate());
		// Each try writes by a name of its own.
		const writer = `${this.writer}.${++this.tries}`;
		const scope = { workflowId: 'w', nodeId: 'n', executionId: this.writer, writer };
		const record = new GenerationRecord(scope, { ...ports, store });
		const service = new GenerationService({ ...ports, send: this.send });
		try {
			await record.begin(schedule.keys.map(String));
			return await runPipeline<string>(
				schedule.keys.map((key, itemIndex) => this.jobOf(key, itemIndex)),
				{
					...ports,
					service,
					record,
					probe: async () => await Promise.reject(new Error('not asked')),
					cancel: this.stop.signal,
					ledger: new Ledger(entries, 0),
					finish: async (_, generation) =>
						await Promise.resolve({ generation, output: generation.item.url }),
				},
				{
					maxConcurrent: planned.maxConcurrent,
					pollIntervalMs: 3000,
					stopOnError: planned.stopOnError,
				},
			);
		} finally {
			await record.close();
			for (const key of record.unrecorded) world.unsure.add(Number(key));
		}
	}

	private jobOf(key: number, itemIndex: number): CreateJob {
		const body = { model: 'aurora-image-1', prompt: promptOf(key) };
		return {
			kind: 'create',
			itemIndex,
			request: async () => await Promise.resolve({ type: 'image', body }),
			idempotencyKey: String(key),
			wait: true,
			readiness: 'status',
			timeoutMs: 600_000,
			onTimeout: 'error',
			onUncertainCharge: this.planned.onUncertainCharge,
		};
	}

	private readonly send = async (request: ServiceRequest): Promise<ServiceResponse> => {
		const { world, clock } = this;
		const { lost, refused } = world.schedule;
		if (this.stop.signal.aborted) world.blame('Something is sent after the stop');
		await clock.sleep(world.random() * 100);
		if (request.method === 'GET') return world.handle(request);
		const key = Number(/\d+$/.exec(String((request.body as { prompt: string }).prompt)));
		world.judgeName(key, request.headers);
		if (world.chance(refused)) return errorAnswer('service_unavailable');
		const response = world.handle(request);
		const { id } = response.body as { id?: string };
		if (id !== undefined) {
			world.judgeCharge(key, id, this.planned.onUncertainCharge === 'resubmit');
		}
		await clock.sleep(world.random() * 100);
		if (!world.chance(lost)) return response;
		world.lost++;
		world.unsure.add(key);
		throw breakages.reset();
	};

	private tableFate(): TableFate {
		const { world } = this;
		const { tableMs, tableFails } = world.schedule;
		const times = { beforeMs: world.random() * tableMs, afterMs: world.random() * tableMs };
		if (!world.chance(tableFails)) return times;
		// What the table was asked for may be done all the same, or not: nobody knows of these keys.
		for (const key of world.schedule.keys) world.unsure.add(key);
		return { ...times, fails: world.random() < 0.5 ? 'before' : 'after' };
	}
}
