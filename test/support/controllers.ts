/** So many signals, each of which a test may abort. */
export function controllers(count: number): AbortController[] {
	return Array.from({ length: count }, () => new AbortController());
}
