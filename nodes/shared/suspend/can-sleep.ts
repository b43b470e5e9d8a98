import type { IExecuteFunctions } from 'n8n-workflow';

import { hasErrorOutput, isEvaluated, isSaved, runsAsTool } from '../execution';
import { hint } from '../output/report';

/**
 * Returns the reason why a step cannot sleep and must poll, for a hint; `null` if it can.
 *
 * @param isSupported true if this n8n returns the result of a sleep
 * @param release the n8n release that does so, for the user
 */
export function whyNotSleep(
	context: IExecuteFunctions,
	isSupported: boolean,
	release: string,
): string | null {
	if (!isSupported) return `Suspend needs n8n ${release} or later`;
	if (runsAsTool(context)) return 'a tool of an AI agent cannot sleep';
	// n8n would end the case without its metrics, while its generations run.
	if (isEvaluated(context)) return 'n8n counts a sleeping case of an evaluation as ended';
	// It ignores a request to sleep, and would return nothing.
	if (context.getWorkflowSettings?.().engineType === 'v2')
		return 'n8n’s new engine (engineType v2) does not support sleeping';
	if (!isSaved(context.getWorkflow().id) || !isSaved(context.getExecutionId())) {
		return 'the workflow has not been saved';
	}
	if (hasErrorOutput(context)) {
		return 'n8n cannot route failed items to the error output after a sleep';
	}
	return null;
}

/** Shows a hint that a step polls although it was set to suspend. */
export function polledHint(context: IExecuteFunctions, reason: string): void {
	hint(context, `Polled instead of suspending, because ${reason}`, 'warning');
}
