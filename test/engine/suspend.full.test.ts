import type { SleepState } from '../../nodes/shared/sleep/state';
import type { INodeParameters } from 'n8n-workflow';

import { GivenCredentials } from '../../tools/engine/credentials';
import { helperOf, kill, killWave, wavesOf, wakeThrough, nextOf } from './asleep';
import { binaryOf, openStage, sha256 } from './stage';

const stage = openStage();
const suspend = { mode: 'suspend' };
const late = { ...suspend, runOptions: { onTimeout: 'continue' } };
const idsOf = (...ids: string[]) => ids.map((id) => ({ id }));

describe('a suspended wait', () => {
	it('is suspended, sends no requests in the meantime, resumes, and returns the files, charged once', async () => {
		const ids = [await stage.made('a boat [seconds: 900]'), await stage.made('a ship')];
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(...ids) });
		expect(asleep.status).toBe('waiting');
		stage.sandbox.requests.clear();
		await stage.pass(10);
		expect(stage.arrived).toBe(0);
		stage.sandbox.service.finish(ids[0]);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.status).toBe('success');
		// One status check that finds the end, and one that collects.
		expect(stage.sandbox.requests.on('status').length).toBeLessThanOrEqual(2 * ids.length);
		const items = awake.output('Step');
		expect(items.map(({ json }) => [json.id, json.status])).toEqual(
			ids.map((id) => [id, 'completed']),
		);
		for (const [index, item] of items.entries()) {
			const bytes = await awake.binary(binaryOf(item));
			expect(sha256(bytes)).toBe(sha256(await stage.served(ids[index])));
		}
		expect(stage.sandbox.books.totals).toMatchObject({ created: 2, charged: 2 });
	});

	it('returns each file with the settings of its item before the sleep', async () => {
		const ids = await Promise.all(
			['a boat', 'a ship'].map((text) => stage.made(`${text} [seconds: 900]`)),
		);
		const wanted = [
			{ id: ids[0], fetch: true, field: 'picture', name: 'boat' },
			{ id: ids[1], fetch: false, field: 'data', name: '' },
		];
		const parameters = {
			...suspend,
			downloadOutput: '={{ $json.fetch }}',
			options: { binaryPropertyName: '={{ $json.field }}', fileName: '={{ $json.name }}' },
		};
		const asleep = await stage.run('waitForCompletion', parameters, { items: wanted });
		expect(asleep.status).toBe('waiting');
		for (const id of ids) stage.sandbox.service.finish(id);
		const [fetched, other] = (await wakeThrough(stage, asleep)).output('Step');
		expect([fetched.json.id, other.json.id]).toEqual(ids);
		expect(Object.keys(fetched.binary ?? {})).toEqual(['picture']);
		expect(binaryOf(fetched, 'picture').fileName).toBe('boat.png');
		expect(other.binary).toBeUndefined();
	});

	it('does not wait for an item whose mode is Check Once', async () => {
		const slow = await stage.made('a ship [seconds: 900]');
		const failed = await stage.made('a cat [seconds: 1] [fail: no]');
		const running = await stage.made('a dog [seconds: 90000]');
		await stage.pass(5);
		const wanted = [
			{ id: slow, mode: 'suspend' },
			{ id: failed, mode: 'check' },
			{ id: running, mode: 'check' },
			{ id: slow, mode: 'never' },
		];
		const parameters = { mode: '={{ $json.mode }}', downloadOutput: false };
		const settings = { onError: 'continueRegularOutput' as const };
		const asleep = await stage.run('waitForCompletion', parameters, { items: wanted, settings });
		expect(asleep.status).toBe('waiting');
		stage.sandbox.service.finish(slow);
		const output = (await wakeThrough(stage, asleep)).output('Step');
		expect(output.map(({ json }) => json.error_code ?? json.status)).toEqual([
			...['completed', 'failed', 'processing', 'invalid_input'],
		]);
	});

	it('is suspended again as long as anything is unfinished', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		const still = await wakeThrough(stage, asleep);
		expect(still.status).toBe('waiting');
		stage.sandbox.service.finish(id);
		const awake = await wakeThrough(stage, still);
		expect(awake.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
	});

	it('continues to sleep if the service fails during a status check', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		const action = { kind: 'error', code: 'service_unavailable' } as const;
		stage.sandbox.faults.order({ on: 'status', times: 'always', action });
		const still = await wakeThrough(stage, asleep);
		expect(still.status).toBe('waiting');
		stage.sandbox.faults.clear();
		stage.sandbox.service.finish(id);
		const awake = await wakeThrough(stage, still);
		expect(awake.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
	});

	it.each([1, 2])(
		'sleeps on where a router has nobody behind it for %d requests',
		async (times) => {
			const id = await stage.made('a boat [seconds: 9000]');
			const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
			const action = { kind: 'respond', status: 404, body: 'default backend - 404' } as const;
			stage.sandbox.faults.order({ on: 'status', times, action });
			const still = await wakeThrough(stage, asleep);
			expect(still.status).toBe('waiting');
		},
	);

	it('is not suspended further if the service rejects a status check', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		const action = { kind: 'error', code: 'forbidden' } as const;
		stage.sandbox.faults.order({ on: 'status', times: 'always', action });
		const awake = await wakeThrough(stage, asleep);
		expect([awake.status, awake.error?.message]).toEqual([
			'error',
			expect.stringContaining('lacks permission'),
		]);
	});

	it('is not suspended further for an item whose own timeout has passed', async () => {
		const ids = [
			await stage.made('a boat [seconds: 9000]'),
			await stage.made('a ship [seconds: 9000]'),
		];
		const items = idsOf(...ids).map((item, index) => ({ ...item, timeout: [100, 1800][index] }));
		const runOptions = { ...late.runOptions, timeout: '={{ $json.timeout }}' };
		const asleep = await stage.run('waitForCompletion', { ...suspend, runOptions }, { items });
		stage.leap(60);
		stage.sandbox.service.finish(ids[1]);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.status).toBe('success');
		expect(awake.output('Step').map(({ json }) => [json.status, json.timed_out])).toEqual([
			['processing', true],
			['completed', false],
		]);
	});

	it('ends as an error if a generation fails while it is suspended', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		stage.sandbox.service.finish(id, 'no paint');
		const awake = await wakeThrough(stage, asleep);
		expect(awake.status).toBe('error');
		expect(awake.error?.message).toMatch(/failed\W+no paint/);
	});

	it('continues with failed items if On Error says so', async () => {
		const ids = [await stage.made('a boat [seconds: 900]'), await stage.made('a ship [fail]')];
		const settings = { onError: 'continueRegularOutput' as const };
		const order = { items: [...idsOf(...ids, ''), {}, { id: null }], settings };
		const asleep = await stage.run('waitForCompletion', suspend, order);
		expect(asleep.status).toBe('waiting');
		stage.sandbox.service.finish(ids[0]);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'completed',
			'generation_failed',
			'invalid_input',
			'invalid_input',
			'invalid_input',
		]);
		expect(awake.output('Step')[1].json).toMatchObject({ id: ids[1], status: 'failed' });
	});

	it.each<INodeParameters>([
		{ options: { fileName: '=picture-{{ $json.n }}' } },
		{ generationId: '={{ $json.id }}{{ $json.n }}' },
	])('keeps the error of an item that is invalid before the sleep: %j', async (parameters) => {
		const ids = [
			await stage.made('a boat [seconds: 900]'),
			await stage.made('a ship [seconds: 900]'),
		];
		const settings = { onError: 'continueRegularOutput' as const };
		const items = [{ id: ids[0], n: '' }, { id: ids[1] }];
		const all = { ...suspend, ...parameters };
		const asleep = await stage.run('waitForCompletion', all, { items, settings });
		expect(asleep.status).toBe('waiting');
		for (const id of ids) stage.sandbox.service.finish(id);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			...['completed', 'invalid_input'],
		]);
	});

	it('keeps the error of an input item', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		const refused = { id: null, error: 'Not enough credits', error_code: 'insufficient_credits' };
		const settings = { onError: 'continueRegularOutput' as const };
		const order = { items: [refused, { id }], settings };
		const asleep = await stage.run('waitForCompletion', suspend, order);
		expect(asleep.status).toBe('waiting');
		stage.sandbox.service.finish(id);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.output('Step').map(({ json }) => json.error_code ?? json.id)).toEqual([
			'insufficient_credits',
			id,
		]);
	});

	it('ends at its timeout, also while the service is down', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		const action = { kind: 'error', code: 'service_unavailable' } as const;
		stage.sandbox.faults.order({ on: 'status', times: 'always', action });
		stage.leap(1800);
		const ended = await wakeThrough(stage, asleep);
		expect(ended.status).toBe('error');
		expect(ended.error).toHaveProperty('description', expect.stringContaining(id));
	});

	it('returns what finished while it was suspended past its timeout', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		stage.leap(1800);
		stage.sandbox.service.finish(id);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.output('Step')).toMatchObject([
			{ json: { id, status: 'completed' }, binary: { data: {} } },
		]);
	});

	it('that timed out does not advise a retry, which sends nothing and only repeats the error', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		stage.leap(1800);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.status).toBe('error');
		expect(awake.error?.message).toContain('did not finish within 1800 s');
		const { description } = awake.error as { description?: string };
		expect(description).toContain(id);
		expect(description).toContain('in a new execution, at no charge');
		expect(description).not.toContain('Retry On Fail');

		const before = stage.arrived;
		const again = await stage.engine.retry(awake);
		expect([again.status, again.error?.message]).toEqual(['error', awake.error?.message]);
		expect(stage.arrived).toBe(before);
	});

	it('continues by itself after a check that was killed', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id) });
		killWave(stage, asleep);
		const still = await stage.engine.resume(asleep);
		expect(still.status).toBe('waiting');
		stage.sandbox.service.finish(id);
		const awake = await wakeThrough(stage, still);
		expect(awake.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
	});

	it('continues by itself after its waves were killed, and keeps its deadline', async () => {
		const id = await stage.made('a boat [seconds: 90000]');
		let run = await stage.run('waitForCompletion', late, { items: idsOf(id) });
		run = await wakeThrough(stage, run);
		const { batch } = wavesOf(stage, run).contextData.flow as { batch: SleepState };
		kill(wavesOf(stage, run));
		run = await stage.engine.resume(run);
		expect(run.status).toBe('waiting');
		let wokenAt = 0;
		while (run.status === 'waiting') {
			wokenAt = nextOf(stage, run).waitTill?.getTime() ?? 0;
			run = await wakeThrough(stage, run);
		}
		const lateMs = batch.memory.since + 1_800_000 - wokenAt;
		expect(lateMs).toBeGreaterThanOrEqual(0);
		expect(lateMs).toBeLessThan(41_000);
		expect(run.output('Step')).toMatchObject([{ json: { id, timed_out: true } }]);
	});

	it('that is given up is no result, and names every generation', async () => {
		const refused = { id: null, error: 'Not enough credits', error_code: 'insufficient_credits' };
		const ids = [await stage.made('a boat [seconds: 9000]'), await stage.made('a ship')];
		const settings = { onError: 'continueRegularOutput' as const };
		const items = [...idsOf(...ids), refused];
		let run = await stage.run('waitForCompletion', suspend, { items, settings });
		while (run.status === 'waiting') {
			killWave(stage, run);
			run = await stage.engine.resume(run);
		}
		expect(run.output('Step').map(({ json: { id, error_code: code } }) => [id, code])).toEqual([
			...ids.map((id) => [id, 'wait_interrupted']),
			[null, 'insufficient_credits'],
		]);
		const [{ json, binary }] = run.output('Step');
		expect(json.error).toMatch(/^The suspended wait ended: 5 helper executions in a row failed/);
		expect(json.error).toContain('at no charge');
		expect([json.url, binary]).toEqual([null, undefined]);
	});

	it('checks a status no more often than the poll interval', async () => {
		const id = await stage.made('a boat [seconds: 9000]');
		stage.sandbox.requests.clear();
		const parameters = { ...suspend, runOptions: { pollInterval: 600, timeout: 7200 } };
		let run = await stage.run('waitForCompletion', parameters, { items: idsOf(id) });
		for (let wakes = 0; wakes < 4; wakes++) {
			expect(run.status).toBe('waiting');
			stage.leap(601);
			run = await wakeThrough(stage, run);
		}
		const times = stage.sandbox.requests.on('status').map(({ at }) => at);
		expect(times.length).toBeGreaterThan(2);
		const gaps = times.slice(1).map((at, index) => at - times[index]);
		expect(Math.min(...gaps)).toBeGreaterThanOrEqual(600_000);
	});

	it('names every generation as charged if its credential is gone when it resumes', async () => {
		const ids: string[] = [];
		while (ids.length < 3) ids.push(await stage.made('a boat [seconds: 9000]'));
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(...ids) });
		const gone = new Error('Credential with ID "1" does not exist for type "mediaGenerationApi".');
		const read = jest.spyOn(GivenCredentials.prototype, 'getDecrypted').mockRejectedValue(gone);
		const awake = await wakeThrough(stage, asleep);
		read.mockRestore();
		expect(awake.status).toBe('error');
		const { description } = awake.error as { description?: string };
		for (const id of ids) {
			expect(description).toMatch(new RegExp(`Charged: .*${id} \\(processing\\)`));
		}
		expect(description).toContain('in a new execution, at no charge');
	});

	it('continues with failed items if the older Continue On Fail says so', async () => {
		const ids = [await stage.made('a boat [seconds: 900]'), await stage.made('a ship [fail]')];
		const settings = { continueOnFail: true };
		const asleep = await stage.run('waitForCompletion', suspend, {
			items: idsOf(...ids),
			settings,
		});
		stage.sandbox.service.finish(ids[0]);
		const awake = await wakeThrough(stage, asleep);
		expect(awake.status).toBe('success');
		expect(awake.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'completed',
			'generation_failed',
		]);
	});

	it('is suspended once, even with Retry On Fail', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
		const asleep = await stage.run('waitForCompletion', suspend, { items: idsOf(id), settings });
		expect(asleep.status).toBe('waiting');
		// No other execution has begun between the two.
		expect(Number(helperOf(stage, asleep).record.id) - Number(asleep.record.id)).toBe(1);
	});
});
