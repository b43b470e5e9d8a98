import type { ServiceRequest } from '../requests/request';

/** Simulates a cache in front of the storage that keeps reporting a URL as missing for some time. */
export class Misses {
	private readonly until = new Map<string, number>();

	/** Marks the URL as missing until `until` (milliseconds). */
	note(request: ServiceRequest, until: number): void {
		this.until.set(keyOf(request), until);
	}

	/** Returns true if the URL is still marked as missing at `now`. */
	has(request: ServiceRequest, now: number): boolean {
		return now < (this.until.get(keyOf(request)) ?? 0);
	}

	/** Removes all URLs. */
	clear(): void {
		this.until.clear();
	}
}

function keyOf({ path, query }: ServiceRequest): string {
	return `${path}?${query?.['X-Amz-Signature']}`;
}
