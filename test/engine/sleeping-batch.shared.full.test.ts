import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Run } from '../../tools/engine';
import { killWave, sleepToEnd, nextOf } from './asleep';
import { items, openKeyedStage } from './keyed';

/** Suspended batches whose items or executions share keys, and whose table misses something. */

const { stage, tables, created, execute, rows } = openKeyedStage();

const asleep = (runOptions: IDataObject = {}, parameters: INodeParameters = {}) =>
	({
		downloadOutput: false,
		options: { idempotencyKey: '={{ $json.key }}' },
		runOptions: { whileWaiting: 'suspend', maxConcurrent: 3, ...runOptions },
		...parameters,
	}) as INodeParameters;
const continues = { onError: 'continueRegularOutput' };
const endsOf = (run: Run) => run.output('Step').map(({ json }) => json.error_code ?? json.status);

describe('two items of a batch with one key, whose generation fails', () => {
	const prompt = 'a boat [seconds: 400] [fail: no]';

	it('create no other one, if the first of them has timed out before', async () => {
		const list = [
			{ key: 'k', prompt, timeout: 120 },
			{ key: 'k', prompt, timeout: 900 },
		];
		const parameters = asleep({ onTimeout: 'continue', timeout: '={{ $json.timeout }}' });
		const end = await sleepToEnd(stage, await execute(list, parameters, continues));
		expect(endsOf(end)).toEqual(['generation_failed', 'generation_failed']);
		expect(created()).toBe(1);
	});
});

it('a wave that dies after it recorded a failure does not make the next one create the item again', async () => {
	const list = items(['k', 'a boat [seconds: 300] [fail: no]'], ['l', 'a ship [seconds: 900]']);
	const first = await execute(list, asleep({ timeout: 1800 }), continues);
	stage.leap(400);
	await stage.engine.resume(nextOf(stage, first));
	expect(rows()[0].status).toBe('failed');
	killWave(stage, first);
	const end = await sleepToEnd(stage, await stage.engine.resume(first));
	expect(endsOf(end)).toEqual(['generation_failed', 'completed']);
	expect(created()).toBe(2);
});

it('a failure that the table did not take counts once, so that the item is created again', async () => {
	const list = items(['a', 'a boat [seconds: 300] [fail: no]'], ['b', 'a ship [seconds: 500]']);
	const first = await execute(list, asleep({ retriesOnFailure: 1 }), continues);
	let refusals = 1;
	tables.before = (operation) => {
		if (operation === 'update' && refusals-- > 0) throw new Error('The database is locked');
	};
	const end = await sleepToEnd(stage, first);
	expect(endsOf(end)).toEqual(['generation_failed', 'completed']);
	expect(created()).toBe(3);
});
