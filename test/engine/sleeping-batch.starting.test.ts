import { wallClock } from '../../nodes/shared/http/clock';
import { loaded } from '../../nodes/shared/record/package-age';
import { killWave, nextOf, sleepToEnd, wake } from './asleep';
import { items, openKeyedStage } from './keyed';

const { stage, tables, created, execute } = openKeyedStage();

const parameters = {
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend' },
};

/** n8n loaded the package so long ago. */
const restarted = (seconds: number) =>
	stage.leap((loaded.at + 1000 * seconds - wallClock.now()) / 1000);

/** Seconds since n8n loaded the package. */
const age = () => (wallClock.now() - loaded.at) / 1000;

it('a wave does not end before the crash recovery of an n8n that has just started', async () => {
	let run = await execute(items(['a', 'x [seconds: 100]'], ['b', 'y [seconds: 100]']), parameters);
	run = await wake(stage, run);
	restarted(100);
	let refusals = 1;
	tables.before = () => {
		if (refusals-- > 0) throw new Error('The module is disabled');
	};
	const woken = wallClock.now();
	await stage.engine.resume(run);
	expect((wallClock.now() - woken) / 1000).toBeGreaterThan(20);
});

it.each([
	['quickly', 1, 20, 30],
	// It then stays awake for what is due soon.
	['slowly', 15, 54, 100],
])(
	'a wave ends soon after the crash recovery of an n8n that starts %s, and not before',
	async (_, seconds, least, most) => {
		const first = await execute(
			items(['a', 'x [seconds: 100]'], ['b', 'y [seconds: 100]']),
			parameters,
		);
		restarted(seconds);
		await stage.engine.resume(nextOf(stage, first));
		expect(age()).toBeGreaterThan(least);
		expect(age()).toBeLessThan(most);
	},
);

it('a wave of a suspended wait ends before n8n takes it for dead where data tables are switched off', async () => {
	const id = await stage.made('a boat [seconds: 9000]');
	const first = await stage.run('waitForCompletion', { mode: 'suspend' }, { items: [{ id }] });
	restarted(1);
	stage.sandbox.service.finish(id);
	tables.before = () => {
		throw new Error('The module is disabled');
	};
	await stage.engine.resume(nextOf(stage, first));
	expect(age()).toBeLessThan(55);
});

describe('a guard whose waves have died', () => {
	const died = async () => {
		const first = await execute(
			items(['a', 'x [seconds: 100]'], ['b', 'y [seconds: 100]']),
			parameters,
		);
		stage.leap(600);
		killWave(stage, first);
		return first;
	};

	it('does not fall asleep before the crash recovery of an n8n that has just started', async () => {
		const first = await died();
		restarted(100);
		let refusals = 1;
		tables.before = () => {
			if (refusals-- > 0) throw new Error('The module is disabled');
		};
		const woken = wallClock.now();
		const next = await stage.engine.resume(first);
		expect(next.status).toBe('waiting');
		expect((wallClock.now() - woken) / 1000).toBeGreaterThan(20);
		const end = await sleepToEnd(stage, next);
		expect([end.status, created()]).toEqual(['success', 2]);
	});

	it('otherwise starts the next waves at once: if n8n died again meanwhile, the batch would end', async () => {
		const first = await died();
		restarted(700);
		let calls = 0;
		tables.before = () => void calls++;
		const woken = wallClock.now();
		expect((await stage.engine.resume(first)).status).toBe('waiting');
		expect((wallClock.now() - woken) / 1000).toBeLessThan(5);
		expect(calls).toBe(0);
	});
});

it('a wave waits until n8n has stored the execution that sleeps', async () => {
	const first = await execute(
		items(['a', 'x [seconds: 100]'], ['b', 'y [seconds: 100]']),
		parameters,
	);
	const { data } = first.record.state;
	const { waitTill } = data;
	const storedAt = (nextOf(stage, first).waitTill?.getTime() ?? 0) + 12_000;
	const get = () => (wallClock.now() < storedAt ? undefined : waitTill);
	Object.defineProperty(data, 'waitTill', { get });
	const end = await sleepToEnd(stage, first);
	const statuses = end.output('Step').map(({ json }) => json.status);
	expect([end.status, statuses, created()]).toEqual(['success', ['completed', 'completed'], 2]);
});
