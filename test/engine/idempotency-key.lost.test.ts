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
const oneSentence = 'The service knows none of the 12 generations on record for this step';
const oneAction =
	'delete all rows of the data table media_generations where workflow_id is "the-workflow" and node_id is "the-node"';

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

describe('a service that knows none of the generations on record', () => {
	it('is one error of the step, soon, with one action for all its rows', async () => {
		await generated();
		stage.sandbox.reset();
		const { run, seconds, requests } = await again();
		expect(run.error).toMatchObject({
			message: expect.stringContaining(oneSentence) as string,
			description: expect.stringContaining(oneAction) as string,
			context: { code: 'generation_not_found', generations: [] },
		});
		expect(run.error).toHaveProperty(
			'description',
			expect.not.stringMatching(/already been|Not checked/),
		);
		expect(requests).toBeLessThanOrEqual(16);
		expect(seconds).toBeLessThan(15);
		expect(created()).toBe(0);
	});

	it('is the same error of each item that goes on, and nothing is charged', async () => {
		await generated();
		stage.sandbox.reset();
		const { run, seconds, requests } = await again(keyed, goesOn);
		const errors = errorsOf(run);
		expect(errors).toHaveLength(12);
		errors.forEach(([code, error], index) => {
			expect(code).toBe('generation_not_found');
			expect(error).toContain(oneSentence);
			expect(error).toContain(`key "k${index}"`);
			expect(error).toContain(oneAction);
			expect(error).toContain('Keep rows of newer generations');
		});
		expect(requests).toBeLessThanOrEqual(16);
		expect(seconds).toBeLessThan(15);
		expect(created()).toBe(0);
	});

	it('creates them all again once the user has deleted the rows', async () => {
		await generated();
		stage.sandbox.reset();
		await again();
		rows().splice(0);
		expect((await again()).run.status).toBe('success');
		expect(created()).toBe(12);
	});
});

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
			expect(error).not.toContain('knows none');
		});
		expect(seconds).toBeGreaterThan(30);
		expect(requests).toBeLessThanOrEqual(12 + 11 * 7);
		expect(created()).toBe(12);
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

	it('that created them within the last minute may be a replica that lags, and is asked on', async () => {
		await execute(twelve);
		const action = { kind: 'error', code: 'generation_not_found' } as const;
		stage.sandbox.faults.order({ on: 'status', times: 30, action });
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
