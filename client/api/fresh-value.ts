/**
 * A text in a request body that is made when a request is sent, such as a signed URL. Its JSON identifies it: digests of
 * requests are equal although the text differs each time.
 */
export abstract class FreshValue {
	abstract toJSON(): unknown;
	/** Returns the text. Throws GenerationError if there is none: nothing is sent then. */
	abstract make(): string;
}

/** Returns a body with new texts for its fresh values. */
export function withFreshValues(value: unknown): unknown {
	if (value instanceof FreshValue) return value.make();
	if (Array.isArray(value)) return value.map(withFreshValues);
	if (typeof value !== 'object' || value === null) return value;
	const parts = Object.entries(value).map(([name, part]) => [name, withFreshValues(part)]);
	return Object.fromEntries(parts);
}
