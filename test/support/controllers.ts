/** Creates abort controllers for a test. */
export function controllers(count: number): AbortController[] {
	return Array.from({ length: count }, () => new AbortController());
}
