import { toResult } from '../../client/async';
import { ServiceClient } from '../../client/api/client';
import type { CreateJob } from '../../client/jobs/job';
import type { Clock } from '../../client/ports';
import { BatchedTable } from '../../client/orders/batched-table';
import { Journal } from '../../client/orders/journal';
import { SlotPool } from '../../client/orders/slot-pool';
import type { Row } from '../../client/jobs/row';
import type { CallTable, TableCall, TableScope } from '../../client/orders/table';
import { TableJournal } from '../../client/orders/table-journal';
import { runPipeline } from '../../client/step/pipeline';
import { advance } from '../../client/step/advance';
import {
	unwrittenRows,
	withChanges,
	type ItemState,
	type ItemStates,
	type WaveState,
} from '../../client/step/wave-plan';
import type { WaveResult } from '../../client/step/wave-result';
import { prompt, type MemoryTable, type TableFate } from './memory-table';
import type { Step } from './step';

const TICK_MS = 60_000;
/** At each tick, n8n sets timers for the executions that are due within this time. */
const ARMED_MS = 70_000;
/** Time from the moment a wave is due until it runs. */
const WAKING_MS = 300;
/** Time that the step leaves for storing the executions that wait for a wave. */
const SHORTLY_MS = 5_000;

/** How often a wave checks whether the batch was stopped. */
const STOP_CHECK_MS = 5_000;

/** After this many dead waves in a row, the cause is considered permanent. */
const MOST_DEAD = 5;

/** More waves than any batch of a test needs. */
const MOST_WAVES = 500;

/** What happens to a sleeping batch. */
export interface Fate {
	/** Id of the execution that sleeps. */
	batch: string;
	/** How long each wave lives, in milliseconds. */
	lives: (wave: number) => number;
	/** When the user stops it, in milliseconds after its start. */
	stopsAfterMs: number;
	/** Returns the latency and the failure of a table call in a wave. */
	tableFate: (wave: number, call: TableCall) => TableFate;
}

/** The result of a sleeping batch in virtual time. */
export interface Night {
	/** Number of waves, the step itself included. */
	waves: number;
	/** Number of waves that died. */
	deaths: number;
	/** Milliseconds during which a worker was held. */
	awakeMs: number;
	/** How it ended. */
	end: 'over' | 'stopped' | 'crashed' | 'given up';
	/** When the stop took effect, in milliseconds since the Unix epoch. */
	stoppedAt: number | null;
	/** How items ended, by index: their errors, or `null`. */
	settled: Record<number, NonNullable<ItemState['end']> | null>;
}

/** Returns when n8n wakes an execution. Its ticks are at full minutes of virtual time. */
export function wakesAt(wakeAt: number, sleepsFrom: number): number {
	const first = Math.ceil(sleepsFrom / TICK_MS) * TICK_MS;
	const tick = Math.max(first, Math.ceil((wakeAt - ARMED_MS) / TICK_MS) * TICK_MS);
	return Math.max(wakeAt, tick);
}

/** Runs a batch that sleeps between its waves, as the nodes do, until all its results can be collected. */
export async function sleepThrough(
	step: Step,
	table: MemoryTable,
	jobs: CreateJob[],
	fate: Partial<Fate> = {},
): Promise<Night> {
	return await new SleepingBatch(step, table, jobs, fate).run();
}

class SleepingBatch {
	private readonly fate: Fate;
	private readonly night: Night = {
		waves: 0,
		deaths: 0,
		awakeMs: 0,
		end: 'over',
		stoppedAt: null,
		settled: {},
	};
	private readonly state = { durations: [] as number[], sleptMs: 0, spent: 0, resubmitted: 0 };
	private items: ItemStates = {};
	private failed: WaveState['failed'] = [];
	private dead = 0;
	private isAwake = false;
	/** Stops the wave that is awake. */
	private waveStop = new AbortController();
	private isStopped = false;
	private hasEnded = false;

	constructor(
		private readonly step: Step,
		private readonly table: MemoryTable,
		private readonly jobs: CreateJob[],
		fate: Partial<Fate>,
	) {
		this.fate = {
			batch: 'batch',
			lives: () => Infinity,
			stopsAfterMs: Infinity,
			tableFate: () => prompt,
			...fate,
		};
		const { stopsAfterMs } = this.fate;
		if (stopsAfterMs < Infinity) step.time.at(step.time.now() + stopsAfterMs, () => this.stop());
	}

	async run(): Promise<Night> {
		return await this.sleep().finally(() => (this.hasEnded = true));
	}

	private async sleep(): Promise<Night> {
		const { night, state, step } = this;
		const { time } = step;
		for (;;) {
			const begun = time.now();
			this.isAwake = true;
			const result = await this.wave();
			this.isAwake = false;
			const isFirst = night.waves++ === 0;
			if (night.waves > MOST_WAVES) throw new Error('The batch does not end');
			night.awakeMs += time.now() - begun;
			if (this.isStopped) night.stoppedAt ??= time.now();
			const end = this.takeIn(result, isFirst);
			if (end === 'over') await this.fetchResults();
			if (end) return { ...night, end };
			const from = time.now();
			const soon = isFirst || !result ? null : result.nextAt;
			const wakeAt = wakesAt(soon ?? from + SHORTLY_MS, from);
			// If the wave died, this includes the time until its death is noticed.
			await time.sleep(wakeAt - from + (result ? 0 : TICK_MS));
			state.sleptMs = time.now() - from;
			await time.sleep(WAKING_MS);
			night.awakeMs += WAKING_MS;
			// The wave sees that the execution of the step no longer sleeps.
			if (this.isStopped) return { ...night, end: 'stopped' };
		}
	}

	/** The execution that fetches the results writes the ids that are still missing. */
	private async fetchResults(): Promise<void> {
		const { time } = this.step;
		const scope = { workflowId: 'w', nodeId: 'n', executionId: this.fate.batch, writer: 'results' };
		await this.read(
			this.table.reachedBy(time, () => prompt),
			time,
			scope,
		);
	}

	private async read(table: CallTable, clock: Clock, scope: TableScope): Promise<Row[]> {
		const { signal } = new AbortController();
		const keys = this.jobs.flatMap(({ idempotencyKey: key }) => key ?? []);
		const batched = new BatchedTable(scope, { table, clock, signal });
		return await batched.read(keys, unwrittenRows(this.items));
	}

	/**
	 * Stops the batch. The step itself notices a stop immediately. Later, the wave that is awake notices it at its next
	 * check; if no wave is awake, the next wave notices it.
	 */
	private stop(): void {
		if (this.hasEnded) return;
		this.isStopped = true;
		const { night, step, waveStop } = this;
		const { time } = step;
		if (this.isAwake && night.waves > 0) {
			time.at(time.now() + STOP_CHECK_MS, () => {
				night.stoppedAt ??= time.now();
				waveStop.abort();
			});
			return;
		}
		night.stoppedAt = time.now();
		step.cancel.abort();
	}

	/** @returns how the batch ended, or `null` if it goes on */
	private takeIn(result: WaveResult | null, isFirst: boolean) {
		const { night, state } = this;
		if (!result) {
			night.deaths++;
			if (isFirst) return 'crashed';
			return ++this.dead >= MOST_DEAD ? 'given up' : null;
		}
		this.dead = 0;
		this.items = withChanges(this.items, result.items);
		for (const [index, { end }] of Object.entries(this.items)) {
			if (end !== undefined) night.settled[Number(index)] = end;
		}
		state.durations = result.durations;
		state.spent = result.spent;
		state.resubmitted = result.resubmitted;
		this.failed = result.failed;
		if (isFirst && this.isStopped) return 'stopped';
		return result.over ? 'over' : null;
	}

	/** @returns `null` if the wave died */
	private async wave() {
		const { step, fate, night } = this;
		const death = new AbortController();
		const livesMs = fate.lives(night.waves);
		if (livesMs < Infinity) step.time.at(step.time.now() + livesMs, () => death.abort());
		return await Promise.race([
			this.work(deadlyClock(step, death.signal)),
			new Promise<null>((resolve) => {
				death.signal.addEventListener('abort', () => resolve(null));
			}),
		]);
	}

	private async work(clock: Clock): Promise<WaveResult> {
		const { step, jobs, night, state, fate, failed } = this;
		// Each later wave is a separate execution, so stopping the step's execution does not stop it.
		this.waveStop = new AbortController();
		const { signal } = night.waves === 0 ? step.cancel : this.waveStop;
		const call = this.table.reachedBy(clock, (one) => fate.tableFate(night.waves, one));
		const writer = `${fate.batch}, wave ${night.waves}`;
		const scope = { workflowId: 'w', nodeId: 'n', executionId: fate.batch, writer };
		const before = {
			items: this.items,
			spent: state.spent,
			resubmitted: state.resubmitted,
			failed,
			earlier: [],
			durations: state.durations,
		};
		const ports = { clock, random: () => step.random(), signal };
		const { stopOnError } = step.settings;
		const { result } = await advance(
			jobs,
			before,
			{
				clock,
				read: async () => await this.read(call, clock, scope),
				open: async (keyed) => {
					const journal = new TableJournal(new Journal({}, 0), scope, { ...ports, table: call });
					const keys = keyed.flatMap(({ idempotencyKey: key }) => key ?? []);
					const begun = await toResult(async () => await journal.begin(keys));
					if (begun.ok) return journal;
					await journal.close();
					throw begun.error;
				},
				run: async (some, record, { shift, spentBefore }) =>
					await runPipeline(
						some,
						{
							...ports,
							service: new ServiceClient({ ...ports, send: step.fake.send }),
							journal: record as TableJournal,
							probe: step.fake.probe,
							slots: new SlotPool(ports),
							cancel: signal,
							shift,
							finish: async (_, generation) => ({ generation, output: null }),
						},
						{ ...step.settings, spentBefore },
					),
			},
			{
				batch: fate.batch,
				stopOnError,
				rests: true,
				sleepsFrom: state.sleptMs === 0 ? 0 : clock.now() - state.sleptMs,
				ofRound: new Set(),
			},
		);
		return result;
	}
}

/** Returns a clock whose sleeps never end after the process has died. */
function deadlyClock({ time }: Step, death: AbortSignal): Clock {
	return {
		now: () => time.now(),
		sleep: async (ms: number, signal?: AbortSignal) => {
			await time.sleep(ms, signal);
			if (death.aborted) await new Promise<never>(() => undefined);
		},
	};
}
