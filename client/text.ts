/** Maximum length of a text from another system. A service may echo the whole request, which can be megabytes. */
const MAX_LENGTH = 1_000;

/** Truncates a text, such as one from another system, and marks the cut with an ellipsis. */
export function truncate(text: string, most = MAX_LENGTH): string {
	return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Writes a number for people: `99,541`. */
export function amount(value: number): string {
	return value.toLocaleString('en-US');
}

/** Names input items in a text: `items 3, 5–7 of 12`. The numbers count from 1, as n8n's editor does. */
export function itemNames(indexes: number[], total?: number): string {
	const all = new Set([...indexes].sort((a, b) => a - b));
	const last = [...all].filter((index) => !all.has(index + 1));
	const ranges = [...all]
		.filter((index) => !all.has(index - 1))
		.map((first, range) =>
			[...new Set([first, last[range]])].map((each) => amount(each + 1)).join('–'),
		);
	const of = total === undefined ? '' : ` of ${amount(total)}`;
	return `${all.size === 1 ? 'item' : 'items'} ${ranges.join(', ')}${of}`;
}

/** Formats milliseconds for a message, rounded up to seconds: `90 s`. */
export function inSeconds(ms: number): string {
	return `${Math.ceil(ms / 1000)} s`;
}

/** Joins sentences. Adds the period where a sentence has none, and skips missing parts. */
export function sentences(...parts: Array<string | false | null | undefined>): string {
	return parts
		.filter((part): part is string => typeof part === 'string' && part !== '')
		.map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
		.join(' ');
}

/** Maximum number of characters that a title quotes from another system's text. */
const MAX_QUOTE = 100;

/**
 * Returns the first words of a text or page, for an error message. Removes markup and control characters, and replaces
 * each long string by `…`, because it may be a key or signature.
 */
export function firstWords(text: string, most = MAX_QUOTE): string {
	const words = text
		.replace(/<[^>]*>?/g, ' ')
		.replace(/[\w+/=.~-]{33,}/g, '…')
		.replace(/[\p{C}\s]+/gu, ' ')
		.trim();
	return words.length > most ? `${words.slice(0, most).trim()}…` : words;
}
