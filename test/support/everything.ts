/**
 * Every text that hangs on a value in any way: keys and values, enumerable or not, through all levels and cycles. For
 * asking whether a secret is anywhere in it.
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
