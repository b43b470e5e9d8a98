/**
 * Returns all text that can be reached from a value: keys and values, enumerable or not, at all levels and through
 * cycles. Used to check that a secret does not appear anywhere.
 */
export function everythingIn(value: unknown): string {
	const seen = new Set<object>();
	const texts: string[] = [];
	const visit = (part: unknown): void => {
		if (typeof part === 'string') texts.push(part);
		if (part === null || typeof part !== 'object' || seen.has(part)) return;
		seen.add(part);
		if (part instanceof Map || part instanceof Set) [...part].forEach(visit);
		for (const key of Reflect.ownKeys(part)) {
			texts.push(String(key));
			visit(Object.getOwnPropertyDescriptor(part, key)?.value);
		}
	};
	visit(value);
	return texts.join('\n');
}
