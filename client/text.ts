/** Maximum length of a text from another system: a service may echo megabytes of its request. */
const MAX_LENGTH = 1_000;

/** Truncates a text, such as one from another system, and marks the cut with an ellipsis. */
export function truncate(text: string, most = MAX_LENGTH): string {
	return text.length > most ? `${text.slice(0, most)}…` : text;
}

/**
 * Names input items in a text: `item 3 (of 12)`. The numbers count from 1, as n8n's editor does. The total tells them
 * apart from the `[item 2]` in n8n's own messages, which counts from 0.
 */
export function itemNames(indexes: number[], total?: number): string {
	const numbers = indexes.map((index) => index + 1).join(', ');
	const of = total === undefined ? '' : ` (of ${total})`;
	return `${indexes.length === 1 ? 'item' : 'items'} ${numbers}${of}`;
}

/** Returns a duration for a text: `90 s`. */
export function inSeconds(ms: number): string {
	return `${Math.ceil(ms / 1000)} s`;
}

/** Joins the given sentences, each with its period, and skips missing parts. */
export function sentences(...parts: Array<string | false | null | undefined>): string {
	return parts
		.filter((part): part is string => typeof part === 'string' && part !== '')
		.map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
		.join(' ');
}
