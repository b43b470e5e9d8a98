import type { SleepState } from '../../nodes/shared/sleep/state';
import type { INodeParameters } from 'n8n-workflow';

import { kill, killWave, wavesOf, wakeThrough, nextOf } from './asleep';
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

	it('continues by itself after its waves were killed, and keeps its deadline', async () => {
		const id = await stage.made('a boat [seconds: 90000]');
		let run = await stage.run('waitForCompletion', late, { items: idsOf(id) });
		run = await wakeThrough(stage, run);
		const { state } = wavesOf(stage, run).contextData.flow as { state: SleepState };
		kill(wavesOf(stage, run));
		run = await stage.engine.resume(run);
		expect(run.status).toBe('waiting');
		let wokenAt = 0;
		while (run.status === 'waiting') {
			wokenAt = nextOf(stage, run).waitTill?.getTime() ?? 0;
			run = await wakeThrough(stage, run);
		}
		const lateMs = state.memory.since + 1_800_000 - wokenAt;
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
			[null, 'invalid_input'],
		]);
		const [{ json, binary }] = run.output('Step');
		expect(json.error).toMatch(/^The suspended wait ended: 5 helper executions in a row failed/);
		expect(json.error).toContain('at no charge');
		expect([json.url, binary]).toEqual([null, undefined]);
	});
});
