import type { Job } from '../../../client/jobs/job';
import type { Outcome } from '../../../client/jobs/outcome';
import type { PipelineStats } from '../../../client/step/pipeline';
import { typeCreatedBy } from '../execution';
import { errorsOf } from './outcomes';
import type { Step } from '../step';

/**
 * Sets the attributes that n8n's OpenTelemetry module puts on the span of a node. They contain no prompt, URL or key,
 * because traces leave n8n. A second call replaces the values of the first. Does nothing in a tool, or in older n8n.
 */
export function traceStep(
	step: Step,
	{
		jobs = [],
		outcomes = [],
		stats,
		balance,
	}: { jobs?: Job[]; outcomes?: Array<Outcome<unknown>>; stats?: PipelineStats; balance?: number },
): void {
	const errors = errorsOf(outcomes);
	const refunded = errors.filter(({ charge }) => charge === 'refunded').length;
	const uncertain = errors.filter(({ charge }) => charge === 'unknown').length;
	const { made = 0, reused = 0, retries = 0, resubmitted = 0, recreated = 0 } = stats ?? {};
	const credits =
		stats?.balance ?? (balance === undefined ? null : { before: balance, after: balance });
	const type = typeOf(step, outcomes);
	const model = modelOf(jobs);
	step.n8n.setMetadata?.({
		tracing: {
			...(type !== null && { 'gen_ai.operation.name': `${type}_generation` }),
			...(model !== null && { 'gen_ai.request.model': model }),
			'media.generations.created': made,
			'media.generations.reused': reused,
			// A failed generation that was created again is in no outcome: `refunded` lacks it, but `recreated` counts it.
			'media.generations.failed': refunded + recreated,
			'media.generations.retried': retries + resubmitted + recreated,
			'media.generations.uncertain': uncertain,
			'media.slots.wait_ms': Math.round(stats?.slotWaitMs ?? 0),
			'media.requests.status': stats?.statusRequests ?? 0,
			...(credits && {
				'media.credits.before': credits.before,
				'media.credits.after': credits.after,
			}),
		},
	});
}

/** The type that the node creates. For a node that creates nothing: the type of its generations; `null` if types differ. */
function typeOf(step: Step, outcomes: Array<Outcome<unknown>>): string | null {
	const collected = outcomes.flatMap((outcome) =>
		outcome.kind === 'done' ? [outcome.generation.type] : [],
	);
	return typeCreatedBy(step) ?? onlyOne(collected);
}

function modelOf(jobs: Job[]): string | null {
	const bodies = jobs.map((job) => (job.kind === 'create' ? job.draft.body : {}));
	return onlyOne(bodies.map((body) => ('model' in body ? String(body.model) : null)));
}

function onlyOne(values: Array<string | null>): string | null {
	const [first = null, ...others] = new Set(values);
	return others.length === 0 ? first : null;
}
