import { items, openKeyedStage } from './keyed';

const { stage, tables, rows, created, execute } = openKeyedStage();

describe('an order whose response was lost', () => {
	const headers = () =>
		stage.sandbox.requests.on('create').map(({ idempotencyKey }) => idempotencyKey);
	const lose = () => stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });

	it('is uncertain in every execution, and the error names the table, the key and the row', async () => {
		lose();
		for (const attempt of ['first', 'second']) {
			const { error } = await execute(items(['a', 'a boat']));
			expect([attempt, error]).toMatchObject([attempt, { context: { code: 'uncertain_charge' } }]);
			const { description } = error as unknown as { description: string };
			expect(description).toMatch(
				/key "a" \(row 1 of the data table media_generations\).*delete row 1\./,
			);
		}
		expect(created()).toBe(1);
	});

	it('is reused after its ID is entered in the row', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		const [{ id }] = stage.sandbox.books.generations;
		rows()[0].generation_id = id;
		const second = await execute(items(['a', 'a boat']));
		expect(second.output('Step').map(({ json }) => json.id)).toEqual([id]);
		expect(created()).toBe(1);
	});

	it('is generated again under the same name after its row is deleted', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		// SQLite reuses the ID of its newest row.
		Object.assign(tables.tables[0], { rows: [], nextId: 1 });
		expect((await execute(items(['a', 'a boat']))).status).toBe('success');
		expect(created()).toBe(2);
		expect(new Set(headers()).size).toBe(1);
	});
});
