import { errorAnswer, ServiceError } from '../basics/errors';
import type { FaultAction } from '../faults';
import type { RequestRecord } from '../books/requests';

/** What happens to the connection: a response, a reset, or nothing. */
export type Delivery = 'answer' | 'reset' | 'hang';

/** The speed at which a body is sent. */
export interface Pace {
	bytes: number;
	everyMs: number;
}

/** The reply to a request, from the service's origin or the storage origin. */
export interface Reply {
	status: number;
	headers: Record<string, string>;
	/** A text is sent unchanged, undefined as an empty body, and anything else as JSON. */
	body: unknown;
	delivery: Delivery;
	/** Delay of the response in milliseconds. */
	delayMs: number;
	/** Sends the body in chunks. */
	pace?: Pace;
	/** Repeats the body until the client disconnects. */
	endless?: boolean;
	/** Credits that this request has charged. 0 if it returns a generation that exists already. */
	charged?: number;
	/** For the log. */
	happened: string;
	record?: RequestRecord;
}

/** Returns a plain JSON response. */
export function answer(status: number, body: unknown, happened: string): Reply {
	const headers = { 'content-type': 'application/json; charset=utf-8' };
	return { status, headers, body, delivery: 'answer', delayMs: 0, happened };
}

/** Returns the response to a rejected request. Throws any other error. */
export function refusalFrom(error: unknown): Reply {
	if (!(error instanceof ServiceError)) throw error;
	const { status, body } = errorAnswer(error.row, error.message, error.param);
	return answer(status, body, `${error.row}: ${error.message}`);
}

function withoutAnswer(delivery: 'reset' | 'hang', happened: string): Reply {
	return { status: 0, headers: {}, body: undefined, delivery, delayMs: 0, happened };
}

function orderedError(action: Extract<FaultAction, { kind: 'error' }>): Reply {
	const { code, message, param, retryAfter } = action;
	const { status, body } = errorAnswer(code, message, param);
	const found = answer(status, body, `ordered ${code}`);
	if (retryAfter !== undefined) found.headers['retry-after'] = String(retryAfter);
	return found;
}

function orderedAnswer(
	action: Extract<FaultAction, { kind: 'respond' }>,
	work: () => Reply,
): Reply {
	const happened = action.work ? `ordered answer after: ${work().happened}` : 'ordered answer';
	const plain = answer(action.status, action.body, happened);
	const type = typeof action.body === 'string' ? 'text/html; charset=utf-8' : undefined;
	const contentType = action.contentType ?? type;
	if (contentType) plain.headers['content-type'] = contentType;
	if (action.body === undefined && !action.contentType) delete plain.headers['content-type'];
	Object.assign(plain.headers, action.headers);
	return { ...plain, endless: action.endless };
}

/** Returns the pace of a `trickle` fault. */
export function paceOf({ bytes = 1, everyMs }: Extract<FaultAction, { kind: 'trickle' }>): Pace {
	return { bytes, everyMs };
}

/** Port 9, "discard", is closed. */
const closedOrigin = 'http://127.0.0.1:9';

function unreachable(reply: Reply): Reply {
	if (typeof reply.body !== 'object') return reply;
	const text = JSON.stringify(reply.body);
	const body: unknown = JSON.parse(
		text.replace(/"url":"https?:\/\/[^/"]+/g, `"url":"${closedOrigin}`),
	);
	return { ...reply, body };
}

/**
 * Applies an ordered fault to a response. Without a fault, or with one for downloads or for the generation itself,
 * returns the response of `work`.
 */
export function faulted(action: FaultAction | null, work: () => Reply): Reply {
	switch (action?.kind) {
		case 'error':
			return orderedError(action);
		case 'respond':
			return orderedAnswer(action, work);
		case 'loseAnswer':
			return withoutAnswer('reset', `answer lost: ${work().happened}`);
		case 'reset':
			return withoutAnswer('reset', 'connection reset');
		case 'hang':
			return withoutAnswer('hang', action.work ? `no answer: ${work().happened}` : 'no answer');
		case 'delay':
			return { ...work(), delayMs: action.ms };
		case 'trickle':
			return { ...work(), pace: paceOf(action) };
		case 'unreachable':
			return unreachable(work());
		case 'redirect': {
			const redirect = answer(action.status ?? 302, undefined, `to ${action.location}`);
			redirect.headers = { location: action.location };
			return redirect;
		}
		default:
			return work();
	}
}
