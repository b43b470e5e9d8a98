import { createHash } from 'crypto';

/** Returns a short digest of a text: the first 32 hexadecimal digits of its SHA-256. */
export function digest(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
