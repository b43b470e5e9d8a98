import { onAbort } from '../../../client/async';
import { GenerationError } from '../../../client/api/errors';
import { NOTHING_KNOWN } from '../../../client/api/generation';
import { isFinalState } from '../../../client/api/states';
import type { Job } from '../../../client/jobs/job';
import { timedOutGeneration, type Outcome } from '../../../client/jobs/outcome';
import { CallOver, firstAttempt } from '../execution';
import { wallClock } from '../http/clock';
import type { Step } from '../step';

/**
 * How long the call of an agent may take, in milliseconds, unless an item's timeout is longer. Clients of n8n's MCP Server
 * Trigger give up after 60 s. Of the 10 s left, a creating request in flight may use 5 s for its response.
 */
const CALL_MS = 50_000;

/** How long a call may go on after the timeout of its items, in milliseconds. */
const AFTER_TIMEOUT_MS = 5_000;

/**
 * Runs the step of an agent's call. Once the time for the call is over, the step's signal aborts, as on a Stop: the step
 * ends even if the service or the data table does not answer. Retries of the step share this time. Settles as `run` does.
 *
 * @param run gets the step with the signal of the call
 * @param timeoutMs the longest timeout of the items
 */
export async function withinCall<T>(
	step: Step,
	run: (step: Step) => Promise<T>,
	timeoutMs = 0,
): Promise<T> {
	const endsAt = firstAttempt(step).startedAt + Math.max(CALL_MS, timeoutMs + AFTER_TIMEOUT_MS);
	const call = new AbortController();
	const ended = new AbortController();
	const forget = onAbort(step.signal, () => call.abort(step.signal.reason));
	const leftMs = Math.max(0, endsAt - wallClock.now());
	const over = wallClock.sleep(leftMs, ended.signal);
	void over.then(() => ended.signal.aborted || call.abort(new CallOver()));
	try {
		return await run({ ...step, signal: call.signal, callEndsAt: endsAt });
	} finally {
		forget();
		ended.abort();
	}
}

/** Builds the error for a request, or an item, that did not end before the time for the agent's call was over. */
export function callOver(): GenerationError {
	return new GenerationError({
		title: 'The tool stopped, because there was no response in time',
		description: 'Try again later.',
		code: 'timeout',
	});
}

/** Returns what an agent gets for a job that was stopped because the call's time was over: its generation or an error. */
export function outcomeOfCall<T>(outcome: Outcome<T>, { onTimeout, timeoutMs }: Job): Outcome<T> {
	if (outcome.kind !== 'stopped') return outcome;
	const { generation: known, ...rest } = outcome;
	if (known === null) return { ...rest, kind: 'error', error: callOver() };
	if (onTimeout === 'error') {
		return { ...rest, kind: 'error', error: timedOutGeneration(known, timeoutMs, null) };
	}
	const generation = { ...NOTHING_KNOWN, ...known, timed_out: !isFinalState(known.status) };
	return { ...rest, kind: 'done', generation, output: null };
}
