import type { IExecuteFunctions } from 'n8n-workflow';

import { limit } from '../../client/async';
import { ServiceClient } from '../../client/api/client';
import { isCompleted, type Generation } from '../../client/api/generation';
import type { Ledger } from '../../client/paying/ledger';
import type { GenerationRecord } from '../../client/paying/record';
import type { Slots } from '../../client/paying/slots';
import { runPipeline, type PipelineResult } from '../../client/pipeline';
import type { Shift } from '../../client/shift';
import type { StatusChecks } from '../../client/watch/status-requests';
import { cancelSignal, continuesOnError } from './execution';
import type { StepOptions } from './form/parameters';
import type { Planned } from './form/plan-items';
import { wallClock } from './http/clock';
import { download, type DownloadRequest } from './http/download';
import { withSlots } from './http/slots';
import { connect, probeWith } from './http/transport';
import { reportUnexpected } from './output/report';
import type { Output } from './output/results';

/**
 * Maximum concurrent downloads. This fills a typical connection and limits memory where the storage buffers
 * whole files.
 */
const MAX_DOWNLOADS = 3;

/**
 * State that all items of a step share. It is read from n8n once: repeating this for thousands of invalid items
 * would take minutes.
 */
export interface StepStart {
	options: StepOptions;
	ledger: Ledger;
	startedAt: number;
	/** The step's last status check of each generation. */
	checks: StatusChecks;
	/** Set if the step sleeps while nothing is due. */
	shift?: Shift;
}

/** Runs the jobs of valid items. */
export async function runPlans(
	context: IExecuteFunctions,
	plans: Planned[],
	start: StepStart,
	record: GenerationRecord | null = null,
): Promise<PipelineResult<Output>> {
	const { options, ...shared } = start;
	const cancel = cancelSignal(context);
	const planOf = new Map(plans.map((planned) => [planned.job, planned]));
	const ports = { clock: wallClock, random: Math.random };
	const service = new ServiceClient({
		...ports,
		send: connect(context),
		signal: cancel,
	});
	const limited = limit(MAX_DOWNLOADS);
	const run = async (slots: Slots) =>
		await runPipeline<Output>(
			plans.map(({ job }) => job),
			{
				...ports,
				service,
				probe: probeWith(context),
				slots,
				cancel,
				record,
				...shared,
				finish: async (job, generation, signal, refresh) =>
					await fetchOutput(context, planOf.get(job) as Planned, {
						generation,
						signal,
						refresh,
						limited,
					}),
			},
			{
				...options,
				stopOnError: !continuesOnError(context),
			},
		);
	const result = await withSlots(context, run);
	reportUnexpected(
		context,
		result.outcomes.map((outcome) => (outcome.kind === 'error' ? outcome.error : null)),
	);
	return result;
}

async function fetchOutput(
	context: IExecuteFunctions,
	{ download: target }: Planned,
	finished: Pick<DownloadRequest, 'generation' | 'signal' | 'refresh' | 'limited'>,
): Promise<{ generation: Generation; output: Output | null }> {
	const { generation } = finished;
	if (target === null || !isCompleted(generation)) return { generation, output: null };
	const { id, model } = generation.item;
	const fetched = await download(context, {
		...finished,
		fileName: target.fileName ?? [model, id].filter(Boolean).join('-'),
	});
	return {
		generation: fetched.generation,
		output: { propertyName: target.propertyName, binary: fetched.binary },
	};
}
