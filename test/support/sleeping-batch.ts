import type { CreateJob } from '../../client/job';
import { ExecutionJournal } from '../../client/orders/execution-journal';
import { rowsInForce } from '../../client/orders/table';
import { TableJournal } from '../../client/orders/table-journal';
import { runPipeline } from '../../client/pipeline';
import { Shift } from '../../client/shift';
import { planWave, recordEnds, waveResult, type Settled, type WaveResult } from '../../client/wave';
import { prompt, type MemoryTable } from './memory-table';
import type { Step } from './step';

const TICK_MS = 60_000;
/** n8n sets timers for what is due within this time of a tick. */
const ARMED_MS = 70_000;
/** From the moment a wave is due until it runs. */
const WAKING_MS = 300;
/** The step leaves the executions that wait for a wave this much time to be stored. */
const SHORTLY_MS = 5_000;

/** What a sleeping batch was in virtual time. */
export interface Night {
	/** Number of waves, the step itself included. */
	waves: number;
	/** Milliseconds during which a worker was held. */
	awakeMs: number;
	settled: Settled;
}

/** When n8n wakes an execution. Its ticks are at full minutes of virtual time. */
export function wakesAt(wakeAt: number, sleepsFrom: number): number {
	const first = Math.ceil(sleepsFrom / TICK_MS) * TICK_MS;
	const tick = Math.max(first, Math.ceil((wakeAt - ARMED_MS) / TICK_MS) * TICK_MS);
	return Math.max(wakeAt, tick);
}

/**
 * Runs a batch that sleeps between its waves, as the nodes do, until nothing is left but to collect.
 *
 * @param random moments at which waves die: returns how long the next wave lives, in milliseconds
 */
export async function sleepThrough(
	step: Step,
	table: MemoryTable,
	jobs: CreateJob[],
	lives: (wave: number) => number = () => Infinity,
): Promise<Night> {
	const { time } = step;
	const night: Night = { waves: 0, awakeMs: 0, settled: {} };
	let durations: number[] = [];
	let sleptMs = 0;
	for (;;) {
		const begun = time.now();
		const result = await oneWave(
			step,
			table,
			jobs,
			night,
			{ durations, sleptMs },
			lives(night.waves),
		);
		night.waves++;
		night.awakeMs += time.now() - begun;
		if (result) {
			Object.assign(night.settled, result.settled);
			durations = result.durations;
			if (result.over) return night;
		}
		const from = time.now();
		const soon = night.waves === 1 || !result ? null : result.nextAt;
		const wakeAt = wakesAt(soon ?? from + SHORTLY_MS, from);
		// Until its death is noticed.
		await time.sleep(wakeAt - from + (result ? 0 : TICK_MS));
		sleptMs = time.now() - from;
		await time.sleep(WAKING_MS);
		night.awakeMs += WAKING_MS;
	}
}

/** @returns `null` if the wave died */
async function oneWave(
	step: Step,
	table: MemoryTable,
	jobs: CreateJob[],
	night: Night,
	before: { durations: number[]; sleptMs: number },
	livesMs: number,
): Promise<WaveResult | null> {
	const { time } = step;
	const death = new AbortController();
	if (livesMs < Infinity) time.at(time.now() + livesMs, () => death.abort());
	const mortal = deadlyClock(step, death.signal);
	const call = table.reachedBy(mortal, () => prompt);
	const wave = async (): Promise<WaveResult> => {
		const keys = jobs.flatMap(({ idempotencyKey: key }) => key ?? []);
		const rows = await call({ changes: [], inserts: [], ifMissing: false, keys });
		const plan = planWave(jobs, night.settled, rowsInForce(rows), 'batch', time.now());
		const scope = {
			workflowId: 'w',
			nodeId: 'n',
			executionId: 'batch',
			writer: `wave ${night.waves}`,
		};
		const ports = { clock: mortal, random: () => step.random() };
		const { signal } = step.cancel;
		const journal = new TableJournal(new ExecutionJournal({}, 0), scope, {
			...ports,
			table: call,
			signal,
		});
		const shift = new Shift(mortal, before);
		try {
			await journal.begin(plan.sources.flatMap(({ idempotencyKey: key }) => key ?? []));
			const result = await runPipeline(
				plan.jobs,
				{
					...ports,
					service: step.service(),
					journal,
					probe: step.fake.probe,
					cancel: signal,
					shift,
					finish: async (_, generation) => ({ generation, output: null }),
				},
				step.settings,
			);
			recordEnds(journal, plan, result.outcomes);
			return waveResult(plan, result, shift, step.settings.stopOnError);
		} finally {
			await journal.close();
		}
	};
	return await Promise.race([
		wave(),
		new Promise<null>((resolve) => {
			death.signal.addEventListener('abort', () => resolve(null));
		}),
	]);
}

/** A clock on which nothing continues after the process died. */
function deadlyClock({ time }: Step, death: AbortSignal) {
	return {
		now: () => time.now(),
		sleep: async (ms: number, signal?: AbortSignal) => {
			await time.sleep(ms, signal);
			if (death.aborted) await new Promise<never>(() => undefined);
		},
	};
}
