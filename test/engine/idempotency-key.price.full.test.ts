import type { IDataObject } from 'n8n-workflow';

import { items, keyed, openKeyedStage } from './keyed';

/** Counts how many helper workflows the table of idempotency keys costs. */

const { stage, tables, created, execute, rows } = openKeyedStage();

/** Runs a step and counts its helper workflows. */
async function helpersOf(list: IDataObject[], parameters = keyed): Promise<number> {
	tables.executions.clear();
	const run = await execute(list, parameters);
	expect(run.status).toBe('success');
	return tables.executions.size;
}

// After this, the process knows the table.
beforeEach(async () => void (await execute(items(['before', 'a raft']))));

it('a picture with a key runs three helper workflows, and one if its generation is reused', async () => {
	const made: number[] = [];
	const reused: number[] = [];
	for (const key of ['a', 'b', 'c']) {
		const list = items([key, 'a boat']);
		made.push(await helpersOf(list));
		expect(rows().at(-1)).toMatchObject({ key, status: 'completed' });
		reused.push(await helpersOf(list));
	}
	expect([Math.min(...made), Math.min(...reused)]).toEqual([3, 1]);
	expect(created()).toBe(4);
});

it('a batch of 100 runs one helper workflow in all if its generations are reused', async () => {
	stage.sandbox.service.accounts.account('main').concurrency = 100;
	const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`);
	const list = items(...keys.map((key): [string, string] => [key, 'a boat']));
	const atOnce = { ...keyed, runOptions: { maxConcurrent: 100 } };
	await helpersOf(list, atOnce);
	expect(rows().filter(({ status }) => status === 'completed')).toHaveLength(101);
	expect(await helpersOf(list)).toBe(1);
	expect(created()).toBe(101);
});

it('a table that is deleted between two steps is created again', async () => {
	tables.tables.length = 0;
	expect((await execute(items(['a', 'a boat']))).status).toBe('success');
	expect(rows()).toMatchObject([{ key: 'a', status: 'completed' }]);
});
