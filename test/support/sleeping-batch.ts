import { ServiceClient } from '../../client/api/client';
import type { CreateJob } from '../../client/jobs/job';
import { newMemory, type Memory } from '../../client/jobs/memory';
import { Journal } from '../../client/orders/journal';
import { SlotPool } from '../../client/orders/slot-pool';
import { TableJournal } from '../../client/orders/table-journal';
import { Pipeline, type PipelineResult } from '../../client/step/pipeline';
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
	settled: Memory['ends'];
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
	private memory: Memory;

	constructor(
		private readonly step: Step,
		private readonly table: MemoryTable,
		private readonly jobs: CreateJob[],
	) {
		this.memory = newMemory('token', step.time.now());
	}

	async run(): Promise<Night> {
		const { night, step } = this;
		const { time } = step;
		for (;;) {
			const begun = time.now();
			const { wakeAt, firstFailed } = await this.wave();
			const isFirst = night.waves++ === 0;
			if (night.waves > MOST_WAVES) throw new Error('The batch does not end');
			night.awakeMs += time.now() - begun;
			night.settled = this.memory.ends;
			if (wakeAt === null || (firstFailed && step.settings.stopOnError)) return night;
			const from = time.now();
			await time.sleep(wakesAt(isFirst ? from + SHORTLY_MS : wakeAt, from) - from);
			await time.sleep(WAKING_MS);
			night.awakeMs += WAKING_MS;
		}
	}

	private async wave(): Promise<PipelineResult<unknown>> {
		const { step, night, memory } = this;
		const { signal } = step.cancel;
		const clock = step.time;
		const table = this.table.reachedBy(clock, () => prompt);
		const writer = `${memory.token}/${night.waves}`;
		const scope = { workflowId: 'w', nodeId: 'n', executionId: BATCH, writer, token: memory.token };
		const ports = { clock, random: () => step.random(), signal };
		const journal = new TableJournal(new Journal({}, 0), scope, { ...ports, table });
		const open = this.jobs.filter(({ itemIndex }) => memory.ends[itemIndex] === undefined);
		await journal.begin(
			open.flatMap(({ idempotencyKey: key }) => key ?? []),
			memory,
		);
		const ran = await new Pipeline(
			open.map((job) => ({ ...job })),
			{
				...ports,
				service: new ServiceClient({ ...ports, send: step.fake.send }),
				journal,
				probe: step.fake.probe,
				slots: new SlotPool(ports),
				cancel: signal,
				memory,
				rests: true,
				finish: async (_, generation) => ({ generation, output: null }),
			},
			{ ...step.settings, spentBefore: memory.spent },
		).run();
		await journal.close();
		const { unrecorded: unwritten, silences } = journal;
		this.memory = { ...(ran.memory as Memory), unwritten, silences };
		return ran;
	}
}
