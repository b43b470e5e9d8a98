import { toResult } from '../../client/async';
import { ServiceClient } from '../../client/api/client';
import type { CreateJob } from '../../client/jobs/job';
import type { Row } from '../../client/jobs/row';
import { BatchedTable } from '../../client/orders/batched-table';
import { Journal } from '../../client/orders/journal';
import { SlotPool } from '../../client/orders/slot-pool';
import { NOTHING_SPENT } from '../../client/orders/spend-guard';
import type { CallTable, TableScope } from '../../client/orders/table';
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
import { prompt, type MemoryTable } from './memory-table';
import type { Step } from './step';

const TICK_MS = 60_000;
/** At each tick, n8n sets timers for the executions that are due within this time. */
const ARMED_MS = 70_000;
/** Time from the moment a wave is due until it runs. */
const WAKING_MS = 300;
/** Time that the step leaves for storing the executions that wait for a wave. */
const SHORTLY_MS = 5_000;

/** More waves than any batch of a test needs. */
const MOST_WAVES = 500;

/** The execution that sleeps. */
const BATCH = 'batch';

/** The result of a sleeping batch in virtual time. */
interface Night {
	/** Number of waves, the step itself included. */
	waves: number;
	/** Milliseconds during which a worker was held. */
	awakeMs: number;
	/** How items ended, by index: their errors, or `null`. */
	settled: Record<number, NonNullable<ItemState['end']> | null>;
}

/** Returns when n8n wakes an execution. Its ticks are at full minutes of virtual time. */
function wakesAt(wakeAt: number, sleepsFrom: number): number {
	const first = Math.ceil(sleepsFrom / TICK_MS) * TICK_MS;
	const tick = Math.max(first, Math.ceil((wakeAt - ARMED_MS) / TICK_MS) * TICK_MS);
	return Math.max(wakeAt, tick);
}

/**
 * Runs the waves of a batch, one after the other, until all its results can be collected. This measures how long batches
 * take, without failures: `test/nodes/sleep` plays the nodes themselves in a simulated n8n.
 */
export async function sleepThrough(
	step: Step,
	table: MemoryTable,
	jobs: CreateJob[],
): Promise<Night> {
	return await new SleepingBatch(step, table, jobs).run();
}

class SleepingBatch {
	private readonly night: Night = { waves: 0, awakeMs: 0, settled: {} };
	private readonly state = {
		durations: [] as number[],
		sleptMs: 0,
		spent: NOTHING_SPENT,
		resubmitted: 0,
	};
	private items: ItemStates = {};
	private failed: WaveState['failed'] = [];

	constructor(
		private readonly step: Step,
		private readonly table: MemoryTable,
		private readonly jobs: CreateJob[],
	) {}

	async run(): Promise<Night> {
		const { night, state, step } = this;
		const { time } = step;
		for (;;) {
			const begun = time.now();
			const result = await this.wave();
			const isFirst = night.waves++ === 0;
			if (night.waves > MOST_WAVES) throw new Error('The batch does not end');
			night.awakeMs += time.now() - begun;
			this.takeIn(result);
			if (result.over) return night;
			const from = time.now();
			const wakeAt = wakesAt((isFirst ? null : result.nextAt) ?? from + SHORTLY_MS, from);
			await time.sleep(wakeAt - from);
			state.sleptMs = time.now() - from;
			await time.sleep(WAKING_MS);
			night.awakeMs += WAKING_MS;
		}
	}

	private async read(table: CallTable, scope: TableScope): Promise<Row[]> {
		const { time, cancel } = this.step;
		const keys = this.jobs.flatMap(({ idempotencyKey: key }) => key ?? []);
		const batched = new BatchedTable(scope, { table, clock: time, signal: cancel.signal });
		return await batched.read(keys, unwrittenRows(this.items));
	}

	private takeIn(result: WaveResult): void {
		const { night, state } = this;
		this.items = withChanges(this.items, result.items);
		for (const [index, { end }] of Object.entries(this.items)) {
			if (end !== undefined) night.settled[Number(index)] = end;
		}
		state.durations = result.durations;
		state.spent = result.spent;
		state.resubmitted = result.resubmitted;
		this.failed = result.failed;
	}

	private async wave(): Promise<WaveResult> {
		const { step, jobs, night, state, failed } = this;
		const { signal } = step.cancel;
		const clock = step.time;
		const call = this.table.reachedBy(clock, () => prompt);
		const writer = `${BATCH}, wave ${night.waves}`;
		const scope = { workflowId: 'w', nodeId: 'n', executionId: BATCH, writer };
		const before = {
			items: this.items,
			spent: state.spent,
			resubmitted: state.resubmitted,
			failed,
			earlier: [],
			durations: state.durations,
		};
		const ports = { clock, random: () => step.random(), signal };
		const { stopOnError, maxNewGenerations = null } = step.settings;
		const inOrder = stopOnError && maxNewGenerations !== null;
		const { result } = await advance(
			jobs,
			before,
			{
				clock,
				read: async () => await this.read(call, scope),
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
				batch: BATCH,
				stopOnError,
				inOrder,
				rests: true,
				sleepsFrom: state.sleptMs === 0 ? 0 : clock.now() - state.sleptMs,
				ofRound: new Set(),
			},
		);
		return result;
	}
}
