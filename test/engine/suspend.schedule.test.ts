/** When a suspended wait checks the status of its generations, and when it ends. */
import type { Run } from '../../tools/engine';
import type { SleepState } from '../../nodes/shared/sleep/state';
import { helperOf, sleepToEnd, wakeThrough, nextOf } from './asleep';
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

	it('checks each generation once each time it resumes, and once more for its result', async () => {
		const ids = await made(5, 'a boat [seconds: 90000]');
		stage.sandbox.service.finish(ids[0]);
		const parameters = { mode: 'suspend', downloadOutput: false };
		let run = await stage.run('waitForCompletion', parameters, { items: idsOf(...ids) });
		// A request that the step has given up at its end may still arrive.
		await new Promise((resolve) => setTimeout(resolve, 200));
		stage.sandbox.requests.clear();
		for (let wakes = 1; wakes <= 4; wakes++) {
			expect(run.status).toBe('waiting');
			if (wakes === 2) stage.sandbox.service.finish(ids[1]);
			if (wakes === 4) for (const id of ids.slice(2)) stage.sandbox.service.finish(id);
			run = await wakeThrough(stage, run);
		}
		expect(run.output('Step').map(({ json }) => json.status)).toEqual(ids.map(() => 'completed'));
		const checks = stage.sandbox.requests.on('status').map(({ generationId }) => generationId);
		expect(ids.map((id) => checks.filter((each) => each === id).length)).toEqual([1, 3, 5, 5, 5]);
	});

	it('waits in the step if the Timeout leaves no time to suspend', async () => {
		const [id] = await made(1, 'a boat [seconds: 9000]');
		const runOptions = { timeout: 100, onTimeout: 'continue' };
		const run = await stage.run(
			'waitForCompletion',
			{ mode: 'suspend', runOptions },
			{ items: idsOf(id) },
		);
		expect(run.status).toBe('success');
		expect(run.output('Step')).toMatchObject([{ json: { id, timed_out: true } }]);
		const next = String(Number(run.executionId) + 1);
		expect(stage.engine.execution(next)).toBeUndefined();
	});

	it.each([200, 300, 1800])(
		'is suspended until its Timeout of %d s, and no longer',
		async (timeout) => {
			const [id] = await made(1, 'a boat [seconds: 9000]');
			const runOptions = { timeout, onTimeout: 'continue' };
			let run = await stage.run(
				'waitForCompletion',
				{ mode: 'suspend', runOptions },
				{ items: idsOf(id) },
			);
			const { batch } = helperOf(stage, run).contextData.flow as { batch: SleepState };
			const deadline = batch.memory.since + timeout * 1000;
			let wakesAt = 0;
			while (run.status === 'waiting') {
				wakesAt = nextOf(stage, run).waitTill?.getTime() ?? 0;
				run = await wakeThrough(stage, run);
			}
			expect(wakesAt).toBeLessThanOrEqual(deadline);
			expect(run.output('Step')).toMatchObject([{ json: { id, timed_out: true } }]);
		},
	);

	it('waits in the helper workflow for the rest of its Timeout if n8n resumes it late', async () => {
		const [id] = await made(1, 'a boat [seconds: 230]');
		const runOptions = { timeout: 250 };
		const asleep = await stage.run(
			'waitForCompletion',
			{ mode: 'suspend', runOptions },
			{ items: idsOf(id) },
		);
		stage.leap(120);
		const awake = await sleepToEnd(stage, await stage.engine.resume(asleep));
		expect(awake.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
	});
});
