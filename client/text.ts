/** Maximum length of a text from another system: a service may echo megabytes of its request. */
const MAX_LENGTH = 1_000;

/** Truncates a text, such as one from another system, and marks the cut with an ellipsis. */
export function truncate(text: string, most = MAX_LENGTH): string {
	return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Joins the given sentences, and skips missing parts. */
export function sentences(...parts: Array<string | false | null | undefined>): string {
	return parts
		.filter((part): part is string => typeof part === 'string' && part !== '')
		.map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
		.join(' ');
}
