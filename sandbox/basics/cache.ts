/** Simulates a cache in front of a server: it returns what it has stored, until its time is over. */
export class Cache<T> {
	private readonly stored = new Map<string, { value: T; until: number }>();

	/** Stores a value until `until` (milliseconds). */
	set(key: string, value: T, until: number): void {
		this.stored.set(key, { value, until });
	}

	/** Returns the value that is still stored at `now`, or undefined. */
	get(key: string, now: number): T | undefined {
		const found = this.stored.get(key);
		return found && now < found.until ? found.value : undefined;
	}

	/** Removes all values. */
	clear(): void {
		this.stored.clear();
	}
}
