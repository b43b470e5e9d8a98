/** The states of a generation (spec 3), and those that other services and gateways use instead. */

/** Final states that are not in the spec, as `plain` spells them. Whether such a generation is refunded is unknown. */
const OTHER_ENDS = new Set([
	'cancelled',
	'canceled',
	'expired',
	'rejected',
	'error',
	'timeout',
	'timedout',
	'aborted',
]);
const SPECIFIED = new Set(['pending', 'processing', 'completed', 'failed']);

/** Matches a code, as `plain` spells it, that says that the content was refused. */
const REFUSAL = /sensitive|nsfw|moderation|contentpolicy|contentfilter|safety/;
/** Finds codes in a sentence by an underscore or inner capital. An ordinary word such as `safety` is not a code there. */
const CODE_IN_TEXT = /[a-z]+_\w+|\b[A-Z]?[a-z]+[A-Z]\w*/g;
const DEEPEST = 6;

/** Returns a state or code in lower case and without separators: `Timed Out`, `timed-out` and `timedOut` are equal. */
function plain(text: string): string {
	return text.toLowerCase().replace(/[\s_.-]+/g, '');
}

/** Returns a state of the spec as the spec spells it, and any other one trimmed. */
export function readState(state: string): string {
	const known = plain(state);
	return SPECIFIED.has(known) ? known : state.trim();
}

/** True for a final state that the spec does not name, such as `cancelled`. */
export function isOtherEnd(state: string | null | undefined): boolean {
	return OTHER_ENDS.has(plain(state ?? ''));
}

/** True for every state at which polling stops (spec 3). */
export function isFinalState(state: string | null | undefined): boolean {
	return state === 'completed' || state === 'failed' || isOtherEnd(state);
}

/** True for a state that is neither in the spec nor in `OTHER_ENDS`. Such a generation counts as running. */
export function isUnknownState(state: string | null | undefined): boolean {
	return Boolean(state) && !SPECIFIED.has(String(state)) && !isOtherEnd(state);
}

/**
 * True if an error says that the content was refused. Spec 2.1 does not show the shape of `error`: the code may be in any
 * field, or in an inner error, or the error may be a text.
 *
 * @param name the name of the field that contains `error`, if `error` is a part of another error
 */
export function isContentRefusal(error: unknown, name = '', depth = 0): boolean {
	// The value of `param` is the name of a request parameter. A name such as `safety` does not mean a refusal.
	if (name === 'param' || depth > DEEPEST) return false;
	if (typeof error === 'string') {
		const isCode = /code|type/i.test(name) || /^[\w.-]+$/.test(error);
		const codes = isCode ? [error] : (error.match(CODE_IN_TEXT) ?? []);
		return codes.some((code) => REFUSAL.test(plain(code)));
	}
	const parts = Object.entries(typeof error === 'object' ? (error ?? {}) : {});
	return parts.some(([part, value]) => isContentRefusal(value, part, depth + 1));
}
