import { wallClock } from '../../nodes/shared/http/clock';
import { loaded } from '../../nodes/shared/record/package-age';
import { killWave, nextOf, sleepToEnd, wake, wavesOf } from './asleep';
import type { Run } from '../../tools/engine';
import { items, openKeyedStage } from './keyed';

const { stage, tables, created, execute } = openKeyedStage();

const parameters = {
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend' },
};

/** n8n loaded the package so long ago. */
const restarted = (seconds: number) =>
	stage.leap((loaded.at + 1000 * seconds - wallClock.now()) / 1000);

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

describe('before the crash recovery of an n8n that has just loaded the package', () => {
	const twoItems = items(['a', 'x [seconds: 100]'], ['b', 'y [seconds: 100]']);
	/** Wakes an execution, and returns how many seconds after the loading it is through. */
	const wakesFor = async (run: Run) => {
		await stage.engine.resume(run);
		return (wallClock.now() - loaded.at) / 1000;
	};

	it('a wave does not end', async () => {
		const first = await execute(twoItems, parameters);
		restarted(1);
		expect(await wakesFor(nextOf(stage, first))).toBeGreaterThan(54);
	});

	it('a guard does not fall asleep, although the waves have ended as usual', async () => {
		const first = await execute(twoItems, parameters);
		let waves = wavesOf(stage, first);
		while (waves.status === 'waiting') waves = await wake(stage, waves);
		restarted(1);
		expect(await wakesFor(first)).toBeGreaterThan(54);
	});
});

/** How often waves were started so far. The engine counts executions from 1. */
function waves(): number {
	let count = 0;
	for (let id = 1; ; id++) {
		const run = stage.engine.execution(String(id));
		if (!run) return count;
		if (run.record.workflow.name === 'Step: waves') count++;
	}
}

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

	it('waits also if the tables are ready, but n8n has just loaded the package', async () => {
		const first = await died();
		restarted(1);
		const woken = wallClock.now();
		expect((await stage.engine.resume(first)).status).toBe('waiting');
		expect((wallClock.now() - woken) / 1000).toBeGreaterThan(53);
	});

	it('starts no waves if it is stopped while it waits', async () => {
		const first = await died();
		const before = waves();
		restarted(100);
		const stop = new AbortController();
		tables.before = () => {
			stop.abort();
			throw new Error('The module is disabled');
		};
		await stage.engine.resume(first, { signal: stop.signal });
		expect(waves()).toBe(before);
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
