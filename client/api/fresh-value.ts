/**
 * A text in a request body that is made when a request is sent, such as a signed URL. Its JSON identifies it: digests of
 * requests are equal although the text differs each time.
 */
export abstract class FreshValue {
	abstract toJSON(): unknown;
	/** Returns the text. Throws GenerationError if there is none: nothing is sent then. */
	abstract make(): string;
}

/** Returns a body with new texts for its fresh values. A body without fresh values is returned itself, not a copy. */
export function withFreshValues<T>(body: T): T {
	return (hasFreshValue(body) ? fresh(body) : body) as T;
}

function hasFreshValue(value: unknown): boolean {
	if (value instanceof FreshValue) return true;
	if (typeof value !== 'object' || value === null) return false;
	return Object.values(value).some(hasFreshValue);
}

function fresh(value: unknown): unknown {
	if (value instanceof FreshValue) return value.make();
	if (Array.isArray(value)) return value.map(fresh);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fresh(part)]));
}
