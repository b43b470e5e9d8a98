import type { CreateJob, Job } from '../jobs/job';
import type { Row } from '../jobs/row';
import { hasId } from '../orders/table';
import type { TableJournal } from '../orders/table-journal';
import type { PipelineResult } from './pipeline';
import type { Spent } from '../orders/spend-guard';
import type { Clock } from '../ports';
import { Shift } from './shift';
import { planWave, unwrittenRows, type WaveState } from './wave-plan';
import { recordEnds, waveResult, type WaveResult } from './wave-result';

/** Dependencies of a wave. */
interface WavePorts {
	clock: Clock;
	/** Reads the rows of all jobs, and writes those that could not be written before. */
	read: (jobs: CreateJob[], missing: Row[]) => Promise<Row[]>;
	/** Opens the record for jobs; `null` if none has a key. */
	open: (jobs: CreateJob[]) => Promise<TableJournal | null>;
	/**
	 * Runs jobs in the pipeline.
	 *
	 * @param shift ends the run when nothing is due soon; not set if the wave cannot rest
	 * @param spentBefore what earlier waves have spent
	 */
	run: (
		jobs: Job[],
		record: TableJournal | null,
		terms: { shift?: Shift; spentBefore: Spent },
	) => Promise<PipelineResult<unknown>>;
}

interface WaveTerms {
	/** The execution id in the rows of this batch. */
	batch: string;
	/** True if the first error ends the batch. */
	stopOnError: boolean;
	/** True if the items are begun in their order, although some failed before: a limit leaves out the last ones. */
	inOrder: boolean;
	/** False if the step cannot sleep, so that the wave runs until its jobs have ended. */
	rests: boolean;
	/** When the step fell asleep, in milliseconds since the Unix epoch; 0 in its first wave. */
	sleepsFrom: number;
	/** Ids of the generations of this round of a loop, for the first wave. Other rows of the batch are older. */
	ofRound: ReadonlySet<string | undefined>;
}

/**
 * Runs one wave of a batch: collects what has ended, fills the free slots, and stops when nothing is due to end soon.
 *
 * @param jobs of the step, each with an idempotency key
 * @param state what earlier waves reported
 * @returns what this wave adds to the state, and what its jobs did
 * @throws GenerationError `record_unavailable`
 */
export async function advance(
	jobs: CreateJob[],
	state: WaveState,
	{ clock, read, open, run }: WavePorts,
	{ batch, stopOnError, inOrder, rests, sleepsFrom, ofRound }: WaveTerms,
): Promise<{ result: WaveResult; ran: PipelineResult<unknown> }> {
	const tried = jobs.map((job) => ({ ...job, tried: state.items[job.itemIndex]?.tried }));
	const rows = await read(tried, unwrittenRows(state.items));
	const isFirst = sleepsFrom === 0;
	const earlier = isFirst ? earlierRounds(rows, batch, ofRound) : state.earlier;
	const now = clock.now();
	const order = { inOrder, ...(!rests && { mostNew: Infinity }) };
	const plan = planWave(tried, { ...state, earlier }, rows, batch, now, order);
	const { durations } = state;
	const shift = new Shift(clock, { sleptMs: isFirst ? 0 : now - sleepsFrom, durations });
	const record = await open(plan.sources);
	const terms = { spentBefore: plan.spentBefore, ...(rests && { shift }) };
	const work = async () => {
		const ran = await run(plan.jobs, record, terms);
		if (record) recordEnds(record, plan, ran.outcomes);
		return ran;
	};
	const ran = await work().finally(async () => await record?.close());
	const result = waveResult(plan, ran, shift, record, { stopOnError, rests }, clock.now());
	return { result, ran };
}

/**
 * Returns the ids of generations that the execution created in earlier rounds of a loop. This round treats them like
 * those of another execution: their timeouts and limits start anew.
 */
function earlierRounds(rows: Row[], batch: string, ofRound: WaveTerms['ofRound']): string[] {
	const own = rows.filter((row) => row.execution_id === batch && hasId(row));
	return own.map((row) => row.generation_id).filter((id) => !ofRound.has(id));
}
