import { createHash } from 'crypto';

/** A short name for a text, the same for the same text. */
export function digest(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
