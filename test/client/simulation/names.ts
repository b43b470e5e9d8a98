/** The names that orders have had (the header Idempotency-Key). */
export class Names {
	private readonly owners = new Map<string, number>();

	/**
	 * A creating request leaves.
	 *
	 * @param item or idempotency key that it is for
	 * @param failed how many of its generations have failed: each may be followed by another order
	 * @returns the promise that is broken, if one is
	 */
	judge(item: number, headers: Record<string, string> | undefined, failed: number): string | null {
		const name = headers?.['Idempotency-Key'];
		if (name === undefined) return `A request of ${item} has no name`;
		const owner = this.owners.get(name) ?? item;
		if (owner !== item) return `Orders of ${owner} and ${item} have the same name`;
		this.owners.set(name, item);
		const count = [...this.owners.values()].filter((one) => one === item).length;
		return count > failed + 1 ? `An order of ${item} has got another name` : null;
	}
}
