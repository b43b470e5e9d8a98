/** The names of orders so far (the header Idempotency-Key). */
export class Names {
	private readonly owners = new Map<string, { item: number; model: string }>();

	/**
	 * Judges the name of a creating request that is sent.
	 *
	 * @param item the item or idempotency key that it is for
	 * @param failed how many of its generations have failed: each may be followed by another order
	 * @param model the model of the request: a service that knows the name would reject another model under it
	 * @returns the broken promise, if any
	 */
	judge(
		item: number,
		headers: Record<string, string> | undefined,
		failed: number,
		model = '',
	): string | null {
		const name = headers?.['Idempotency-Key'];
		if (name === undefined) return `A request of ${item} has no name`;
		const owner = this.owners.get(name) ?? { item, model };
		if (owner.item !== item) return `Orders of ${owner.item} and ${item} have the same name`;
		this.owners.set(name, owner);
		const count = [...this.owners.values()].filter(
			(one) => one.item === item && one.model === owner.model,
		).length;
		return count > failed + 1 ? `An order of ${item} has got another name` : null;
	}
}
