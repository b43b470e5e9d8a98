import { wallClock } from '../../nodes/shared/http/clock';
import { loaded } from '../../nodes/shared/record/package-age';
import { nextOf } from './asleep';
import { openKeyedStage } from './keyed';

const { stage, tables } = openKeyedStage();

/** Seconds since n8n loaded the package. */
const age = () => (wallClock.now() - loaded.at) / 1000;

/** A wait that sleeps, and whose generation ends meanwhile, when n8n loaded the package so many seconds ago. */
async function asleep(seconds: number) {
	const id = await stage.made('a boat [seconds: 9000]');
	const run = await stage.run('waitForCompletion', { mode: 'suspend' }, { items: [{ id }] });
	stage.leap(60);
	loaded.at = wallClock.now() - 1000 * seconds;
	stage.sandbox.service.finish(id);
	return nextOf(stage, run);
}

describe('a check of a suspended wait that wakes while n8n starts', () => {
	it('does not end, and so does not wake the step, before the crash recovery of n8n', async () => {
		const check = await asleep(1);
		const woken = await stage.engine.resume(check);
		expect(age()).toBeGreaterThan(54);
		// It fetches the results next.
		expect(nextOf(stage, woken).record.workflow.name).toBe('Step: results');
		// It only asks whether they work.
		expect(tables.tables).toEqual([]);
	});

	it('waits longer if n8n has not started its data tables yet', async () => {
		const check = await asleep(40);
		let refusals = 1;
		tables.before = () => {
			if (refusals-- > 0) throw new Error('The module is disabled');
		};
		await stage.engine.resume(check);
		expect(age()).toBeGreaterThan(60);
	});

	it('ends before n8n takes it for dead where data tables are switched off', async () => {
		const check = await asleep(1);
		tables.before = () => {
			throw new Error('The module is disabled');
		};
		await stage.engine.resume(check);
		expect(age()).toBeLessThan(55);
	});
});

it('a check of a suspended wait asks for no data table once n8n has started', async () => {
	const check = await asleep(600);
	const before = age();
	tables.before = () => {
		throw new Error('The module is disabled');
	};
	await stage.engine.resume(check);
	expect(age() - before).toBeLessThan(10);
});
