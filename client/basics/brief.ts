/** What others say is handed on up to here: a service may repeat megabytes of what it was sent. */
const LONGEST = 1_000;

/** A text of others, cut where it goes on for too long. */
export function brief(text: string): string {
	return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
