/** Items whose generations a service no longer knows (another account, or a reset one), and those without a response. */
import type { INodeParameters } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import type { Run } from '../../tools/engine';
import { items, keyed, openKeyedStage } from './keyed';

const { stage, tables, rows, created, execute } = openKeyedStage();

const twelve = items(
	...Array.from({ length: 12 }, (_, index): [string, string] => [`k${index}`, `boat ${index}`]),
);
const goesOn = { onError: 'continueRegularOutput' };

/** Generates all items, and returns long after that. */
async function generated(parameters: INodeParameters = keyed): Promise<void> {
	expect((await execute(twelve, parameters)).status).toBe('success');
	stage.leap(3600);
}

/** Runs the items again. Returns how long that takes in seconds, and its status requests. */
async function again(parameters: INodeParameters = keyed, settings = {}) {
	const before = stage.sandbox.requests.on('status').length;
	const since = wallClock.now();
	const run = await execute(twelve, parameters, settings);
	const seconds = (wallClock.now() - since) / 1000;
	return { run, seconds, requests: stage.sandbox.requests.on('status').length - before };
}

const errorsOf = (run: Run) =>
	run.output('Step').map(({ json }) => [json.error_code, String(json.error)]);

describe('a service whose answer may pass', () => {
	it('that knows one of the generations is asked for the others until their retries are over', async () => {
		await generated();
		const known = String(rows()[7].generation_id);
		rows().forEach((row, index) => {
			if (index !== 7) row.generation_id = `00000000-0000-4000-8000-0000000000${10 + index}`;
		});
		const { run, seconds, requests } = await again(keyed, goesOn);
		const output = run.output('Step');
		expect(output[7].json).toMatchObject({ id: known, status: 'completed' });
		const errors = errorsOf(run).filter((_, index) => index !== 7);
		errors.forEach(([code, error]) => {
			expect(code).toBe('generation_not_found');
			expect(error).toMatch(/delete that row/);
		});
		expect(seconds).toBeGreaterThan(30);
		expect(requests).toBeLessThanOrEqual(12 + 11 * 7);
		expect(created()).toBe(12);
		// After the user has deleted the rows, the items are created again.
		rows().splice(0, 12, rows()[7]);
		expect((await again()).run.status).toBe('success');
		expect(created()).toBe(12 + 11);
	});

	it.each([
		['a 404 page of a gateway', { kind: 'respond', status: 404, body: '<h1>Not found</h1>' }],
		['a 404 of the service, for a moment', { kind: 'error', code: 'generation_not_found' }],
	] as const)('is believed when it knows them again: %s', async (_, action) => {
		await generated();
		stage.sandbox.faults.order({ on: 'status', times: 14, action });
		const { run } = await again();
		expect([run.status, run.error?.message]).toEqual(['success', undefined]);
		expect(created()).toBe(12);
	});
});

describe('an order whose response was lost', () => {
	const headers = () =>
		stage.sandbox.requests.on('create').map(({ idempotencyKey }) => idempotencyKey);
	const lose = () => stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });

	it('is uncertain in every execution, and the error names the table, the key and the row', async () => {
		lose();
		await execute(items(['a', 'a boat']));
		const second = await execute(items(['a', 'a boat']));
		expect(second.error).toMatchObject({ context: { code: 'uncertain_charge' } });
		const { description } = second.error as unknown as { description: string };
		expect(description).toMatch(
			/key "a" \(row 1 of the data table media_generations\).*delete row 1\./,
		);
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

	it('has the same name in every request, even if the user has it sent again', async () => {
		lose();
		const parameters = {
			...keyed,
			options: { idempotencyKey: '={{ $json.key }}' },
			runOptions: { onUncertainCharge: 'resubmit' },
		};
		const run = await execute(items(['a', 'a boat']), parameters);
		expect(run.status).toBe('success');
		expect(headers()).toHaveLength(2);
		expect(new Set(headers()).size).toBe(1);
		expect(rows()).toHaveLength(1);
	});
});
