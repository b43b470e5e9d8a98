/**
 * A text in a request body, such as a signed URL, that is made anew each time the request is sent. `toJSON` returns what
 * stays the same, so that the digest of the request does not change with the text.
 */
export abstract class FreshValue {
	abstract toJSON(): unknown;
	/** Returns a new text. Throws GenerationError if it cannot be made: the request is then not sent. */
	abstract make(): string;
}

/** Returns a copy of a body in which each `FreshValue` is replaced by a new text. */
export function withFreshValues(value: unknown): unknown {
	if (value instanceof FreshValue) return value.make();
	if (Array.isArray(value)) return value.map(withFreshValues);
	if (typeof value !== 'object' || value === null) return value;
	const parts = Object.entries(value).map(([name, part]) => [name, withFreshValues(part)]);
	return Object.fromEntries(parts);
}
