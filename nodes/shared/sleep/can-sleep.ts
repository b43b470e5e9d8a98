import { WAIT_FOR_SUB_EXECUTION } from 'n8n-workflow';

import { hasErrorOutput, isEvaluated, isSaved, runsAsTool } from '../execution';
import { hint } from '../output/report';
import type { Step } from '../step';

/** Returns why a step cannot sleep and must poll, as text for a hint; `null` if the step can sleep. */
export function whyNotSleep(step: Step): string | null {
	// Detects n8n 2.41, which added this constant. Older releases never wake a step whose helper workflow has died.
	if (!(WAIT_FOR_SUB_EXECUTION instanceof Date)) return 'sleeping needs n8n 2.41 or later';
	if (runsAsTool(step)) return 'a tool of an AI agent cannot sleep';
	// n8n would end the test case, without its metrics, when the execution falls asleep.
	if (isEvaluated(step)) return 'in an evaluation, n8n treats a sleeping execution as finished';
	// n8n's new engine ignores a request to sleep, so the step would return nothing.
	if (step.n8n.getWorkflowSettings?.().engineType === 'v2')
		return 'n8n’s new engine (engineType v2) does not support sleeping';
	if (!isSaved(step.n8n.getWorkflow().id) || !isSaved(step.execution)) {
		return 'the workflow has not been saved';
	}
	if (hasErrorOutput(step)) {
		return 'n8n cannot route failed items to the error output after a sleep';
	}
	return null;
}

/** Shows a hint that a step polls although it was set to sleep. Returns `null`, for callers to return. */
export function polledHint(step: Step, reason: string): null {
	hint(step, `Polled instead of sleeping, because ${reason}`, 'warning');
	return null;
}
