/** Maximum length of a foreign text: a service may echo megabytes of its request. */
const LONGEST = 1_000;

/** Truncates a text from another system, and marks the cut with an ellipsis. */
export function brief(text: string): string {
	return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
