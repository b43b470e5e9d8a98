import type { ServiceRequest } from '../requests/request';

/** The URLs that a cache in front of the storage has once seen missing, and remembers as such for a while. */
export class Misses {
	private readonly until = new Map<string, number>();

	/** Remembers the URL up to `until` (milliseconds). */
	note(request: ServiceRequest, until: number): void {
		this.until.set(keyOf(request), until);
	}

	/** Whether the URL is still remembered at `now`. */
	has(request: ServiceRequest, now: number): boolean {
		return now < (this.until.get(keyOf(request)) ?? 0);
	}

	/** Forgets all. */
	clear(): void {
		this.until.clear();
	}
}

function keyOf({ path, query }: ServiceRequest): string {
	return `${path}?${query?.['X-Amz-Signature']}`;
}
