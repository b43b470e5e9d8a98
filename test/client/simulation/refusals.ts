import { isEarly } from './faults';
import type { Answer } from './schedule';

/** Rejections that every further creating request of the step would get too. */
const closing = new Set([
	'authentication_error',
	'CONNECTION_LIMIT_REACHED',
	'CONNECTION_PAUSED',
	'expired_api_key',
	'forbidden',
	'insufficient_credits',
	'insufficient_credits_403',
	'invalid_api_key',
	'redirect',
]);

/** Rejections after which the same request may be sent again. */
const passing = new Set([
	'CONCURRENCY_LIMIT_REACHED',
	'html429',
	'model_unavailable',
	'server_error',
	'service_unavailable',
]);

/** Returns whether the answer tells the client that the request was never sent. */
export function tellsNothingLeft(answer: Answer): boolean {
	return answer.kind === 'none' && isEarly(answer.how);
}

/** Returns whether the answer to one item's creating request makes those of other items pointless. */
export function closesForAll(answer: Answer): boolean {
	return closing.has(nameOf(answer));
}

/** Returns whether the answer to a creating request is final for its item, and known to cost nothing. */
export function closesForItem(answer: Answer): boolean {
	const refusal = answer.kind === 'refusal' || /^(html4|redirect)/.test(nameOf(answer));
	return refusal && !passing.has(nameOf(answer));
}

function nameOf(answer: Answer): string {
	if (answer.kind === 'refusal') return answer.code;
	return answer.kind === 'foreign' ? answer.name : answer.kind;
}
