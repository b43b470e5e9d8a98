/** When a suspended wait checks the status of its generations, and when it ends. */
import type { Run } from '../../tools/engine';
import type { SleepState } from '../../nodes/shared/sleep/state';
import { helperOf, wakeThrough, nextOf } from './asleep';
import { openStage } from './stage';

const stage = openStage();
const idsOf = (...ids: string[]) => ids.map((id) => ({ id }));

async function made(count: number, prompt: string): Promise<string[]> {
	const ids: string[] = [];
	while (ids.length < count) ids.push(await stage.made(prompt));
	stage.sandbox.requests.clear();
	return ids;
}

async function wakeUntilEnded(asleep: Run): Promise<Run> {
	let run = asleep;
	while (run.status === 'waiting') run = await wakeThrough(stage, run);
	return run;
}

/** Milliseconds between the status checks of each generation. */
function gaps(ids: string[]): number[] {
	const checks = stage.sandbox.requests.on('status');
	return ids.flatMap((id) => {
		const times = checks.filter(({ generationId }) => generationId === id).map(({ at }) => at);
		return times.slice(1).map((at, index) => at - times[index]);
	});
}

describe('a suspended wait', () => {
	it('keeps the Poll Interval when it is suspended, in between, and when it ends', async () => {
		stage.setPace(20);
		const ids = await made(3, 'a boat [seconds: 200]');
		const runOptions = { pollInterval: 30 };
		const parameters = { mode: 'suspend', downloadOutput: false, runOptions };
		const asleep = await stage.run('waitForCompletion', parameters, { items: idsOf(...ids) });
		expect(asleep.status).toBe('waiting');
		const awake = await wakeUntilEnded(asleep);
		expect(awake.output('Step').map(({ json }) => json.status)).toEqual(ids.map(() => 'completed'));
		// Their time is that of their arrival, with the delays of a fast clock.
		expect(Math.min(...gaps(ids))).toBeGreaterThan(25_000);
	});

	it.each([200, 1800])('is suspended until its Timeout of %d s, and no longer', async (timeout) => {
		const [id] = await made(1, 'a boat [seconds: 9000]');
		const runOptions = { timeout, onTimeout: 'continue' };
		let run = await stage.run(
			'waitForCompletion',
			{ mode: 'suspend', runOptions },
			{ items: idsOf(id) },
		);
		const { state } = helperOf(stage, run).contextData.flow as { state: SleepState };
		const deadline = state.memory.since + timeout * 1000;
		let wakesAt = 0;
		while (run.status === 'waiting') {
			wakesAt = nextOf(stage, run).waitTill?.getTime() ?? 0;
			run = await wakeThrough(stage, run);
		}
		expect(wakesAt).toBeLessThanOrEqual(deadline);
		expect(run.output('Step')).toMatchObject([{ json: { id, timed_out: true } }]);
	});
});
