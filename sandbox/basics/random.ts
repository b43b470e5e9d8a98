/** Returns numbers from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** Returns a generator (mulberry32). The same seed gives the same numbers on every machine. */
export function seededRandom(seed: number): Random {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
	};
}

/** Returns a 32-bit hash of a text (FNV-1a). Use it for seeds, not for secrets. */
export function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index++) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}

/** Returns a UUID (version 4) generated from `random` (spec 2.1). */
export function uuidFrom(random: Random): string {
	const word = (): string =>
		Math.floor(random() * 4294967296)
			.toString(16)
			.padStart(8, '0');
	const hex = word() + word() + word() + word();
	const variant = '89ab'[Math.floor(random() * 4)];
	return (
		`${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-` +
		`${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
	);
}

/** Returns a number from the normal distribution with mean 0 and standard deviation 1 (Box-Muller). */
export function normalFrom(random: Random): number {
	// 1 - random() is never 0, so the logarithm is finite.
	return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
