/** A text in a request body that is made anew each time the request is sent, such as a signed URL that expires. */
export class FreshValue {
	/** @param make returns a new text. If it throws GenerationError, the request is not sent */
	constructor(readonly make: () => string) {}
}

/** Returns a copy of a body in which each `FreshValue` is replaced by a new text. */
export function withFreshValues(value: unknown): unknown {
	if (value instanceof FreshValue) return value.make();
	if (Array.isArray(value)) return value.map(withFreshValues);
	if (typeof value !== 'object' || value === null) return value;
	const parts = Object.entries(value).map(([name, part]) => [name, withFreshValues(part)]);
	return Object.fromEntries(parts);
}
