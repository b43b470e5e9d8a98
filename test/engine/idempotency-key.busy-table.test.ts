import { wallClock } from '../../nodes/shared/http/clock';
import { items, keyed, openKeyedStage, workflowWith } from './keyed';

const { stage, tables, rows, created, execute } = openKeyedStage();

const ERRORS = [
	'SQLITE_BUSY: database is locked',
	'Timeout waiting for lock SqliteWriteConnectionMutex to become available',
	'timeout exceeded when trying to connect',
	'remaining connection slots are reserved for roles with the SUPERUSER attribute',
	'the database system is starting up',
	'terminating connection due to administrator command',
	'Connection terminated unexpectedly',
	'connect ECONNREFUSED 127.0.0.1:5432',
	'deadlock detected',
	'could not serialize access due to concurrent update',
];

/** Fails the first two calls of each of these operations. Returns the operations that were repeated. */
function failing(operations: string[], error: string): Set<string> {
	const calls = new Map<string, number>();
	const repeated = new Set<string>();
	tables.before = (operation) => {
		if (!operations.includes(operation)) return;
		const count = (calls.get(operation) ?? 0) + 1;
		calls.set(operation, count);
		if (count <= 2) throw new Error(error);
		repeated.add(operation);
	};
	return repeated;
}

describe('a database that is busy for a moment', () => {
	it.each(ERRORS)('delays items with a key, and does not fail them: %s', async (error) => {
		const repeated = failing(['list', 'create', 'insert', 'get'], error);
		const run = await execute(items(['a', 'a boat'], ['b', 'a ship']));
		expect(run.error).toBeUndefined();
		expect([...repeated].sort()).toEqual(['create', 'get', 'insert', 'list']);
		expect(tables.tables).toHaveLength(1);
		expect(created()).toBe(2);
		expect(rows().map(({ key, status }) => [key, status])).toEqual([
			['a', 'completed'],
			['b', 'completed'],
		]);
	});
});

describe('a database that stays busy', () => {
	it('is an error after half a minute that quotes it, before anything is sent', async () => {
		const before = wallClock.now();
		tables.refusal = ERRORS[0];
		const { error } = await execute(items(['a', 'a boat']));
		expect(error).toMatchObject({ context: { code: 'record_unavailable' } });
		expect(error).toHaveProperty('description', expect.stringContaining(ERRORS[0]));
		expect(error).toHaveProperty('description', expect.not.stringMatching(/release|2\.3/));
		expect(wallClock.now() - before).toBeGreaterThanOrEqual(29_000);
		expect(created()).toBe(0);
	});

	it('while the user stops the step leaves no row of an item that was not sent', async () => {
		let stop: () => void = () => undefined;
		let inserts = 0;
		tables.before = async (operation) => {
			if (!['rowNotExists', 'insert'].includes(operation) || inserts++ > 0) return;
			stop();
			await wallClock.sleep(8_000);
		};
		const list = items(['a', 'a boat']);
		const stopped = await stage.runWorkflow(workflowWith(keyed), {
			items: list,
			onReady: ({ cancel }) => (stop = cancel),
		});
		await stage.pass(30);
		expect([stopped.status, inserts > 0, created(), rows()]).toEqual(['canceled', true, 0, []]);
		const again = await execute(list);
		expect([again.status, created()]).toEqual(['success', 1]);
	});
});
