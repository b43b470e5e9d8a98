import type { IExecuteFunctions } from 'n8n-workflow';

import { paidGenerations, uncertainItems, type Outcome } from '../../client/jobs/outcome';
import type { PipelineStats } from '../../client/pipeline';

/** What a step says beside its output. */

/**
 * After a stop n8n may drop what the step returns, so what was paid for goes into the log.
 */
export function reportStop(context: IExecuteFunctions, outcomes: Array<Outcome<unknown>>): void {
	const paid = paidGenerations(outcomes).map(({ id }) => id);
	const open = uncertainItems(outcomes);
	if (paid.length === 0 && open.length === 0) return;
	context.logger.warn(
		`Stopped while "${context.getNode().name}" was running. Generations already paid for go on at the service; Wait for Completion fetches them without paying: ${paid.join(', ') || 'none'}.${
			open.length > 0
				? ` It is not known whether these items were charged: ${open.join(', ')}.`
				: ''
		}`,
		{ generations: paid },
	);
}

/** One hint in the output panel after a run that was not plain sailing. */
export function summaryHint(
	context: IExecuteFunctions,
	{ made, takenUp, failed, slotWaitMs, slotRefusal, retries }: PipelineStats,
): void {
	const waitedSeconds = Math.round(slotWaitMs / 1000);
	if (takenUp + failed + retries + waitedSeconds === 0) return;
	const message = [
		`${made} made`,
		takenUp > 0 && `${takenUp} taken up from an earlier try without paying again`,
		failed > 0 && `${failed} failed and refunded`,
		retries > 0 && `${retries} ${retries === 1 ? 'request' : 'requests'} tried again`,
		waitedSeconds > 0 && `waited ${waitedSeconds} s for free slots`,
		waitedSeconds > 0 && slotRefusal !== null && `the service said: ${slotRefusal}`,
	]
		.filter(Boolean)
		.join(', ');
	hint(context, message);
}

/**
 * Before a batch: what is known of its price. The service states none in advance (spec 2.2), so none is guessed.
 *
 * @param balance credits that are left, where the service said
 */
export function creditsHint(context: IExecuteFunctions, balance: unknown): void {
	const items = context.getInputData().length;
	if (items < 2 || typeof balance !== 'number') return;
	hint(
		context,
		`${balance} credits are left, and ${items} items came in. What their generations cost is not known before they are made: the service states no prices in advance.`,
	);
}

/** Says something in the output panel of the editor; older releases of n8n have no hints. */
export function hint(context: IExecuteFunctions, message: string): void {
	context.addExecutionHints?.({ message, location: 'outputPane', type: 'info' });
}
