import type { ServiceResponse } from '../../../client/ports';
import { errorAnswer } from '../../../sandbox/basics/errors';
import { breakages, foreignAnswers } from './faults';
import type { Answer } from './schedule';

/** Observations about one item's requests in one try, for the checks. */
export interface Traffic {
	/** Order of its first request and its last event among all of the try. */
	first: number;
	last: number;
	/** The event at which the storage had the output, if that alone decides: then its generation takes no slot. */
	over: number | null;
	creates: number;
	/** Generations that were seen to fail. */
	failures: number;
	/** When the wait started, and when the last status check received a response or was abandoned. */
	since: number;
	until: number;
}

/** The traffic of an item whose first request is this event. */
export function newTraffic(event: number): Traffic {
	return {
		first: event,
		last: event,
		over: null,
		creates: 0,
		failures: 0,
		since: Infinity,
		until: 0,
	};
}

/**
 * Returns the response that a schedule gives.
 *
 * @throws the error of the HTTP client if there is none
 */
export function answerOf(answer: Answer, own: ServiceResponse | null): ServiceResponse {
	switch (answer.kind) {
		case 'own':
			return own as ServiceResponse;
		case 'refusal':
			return { ...errorAnswer(answer.code), ...asking(answer) };
		case 'foreign':
			return { ...foreignAnswers[answer.name], ...asking(answer) };
		case 'none':
			throw breakages[answer.how]();
	}
}

/** The header of an answer that asks to wait. */
function asking({ retryAfter }: { retryAfter?: number }): Pick<ServiceResponse, 'headers'> {
	return retryAfter === undefined ? {} : { headers: { 'retry-after': String(retryAfter) } };
}
