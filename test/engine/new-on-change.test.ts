import type { IDataObject } from 'n8n-workflow';

import { items, openKeyedStage } from './keyed';
import { byId } from './stage';

/** New Output If the Request Changes: the request is part of the idempotency key. */

const { rows, created, execute } = openKeyedStage();

const step = (options: IDataObject = {}, more: IDataObject = {}) => ({
	downloadOutput: false,
	options: { idempotencyKey: '={{ $json.key }}', newOnChange: true, ...options },
	...more,
});

it('an item whose prompt has changed is created again, and the others are reused', async () => {
	await execute(items(['a', 'a boat'], ['b', 'a ship']), step());
	const run = await execute(items(['a', 'a boat'], ['b', 'a tall ship']), step());
	expect(run.error).toBeUndefined();
	expect(created()).toBe(3);
	expect(rows().map(({ key }) => String(key))).toEqual([
		expect.stringMatching(/^a [\da-f]{16}$/),
		expect.stringMatching(/^b [\da-f]{16}$/),
		expect.stringMatching(/^b [\da-f]{16}$/),
	]);
	const hints = JSON.stringify(run.hints('Step'));
	expect(hints).toContain('1 reused, no charge');
	expect(hints).not.toContain('is different');
});

it('a changed model or setting counts, and how the step runs does not', async () => {
	const list = items(['a', 'a boat']);
	await execute(list, step());
	await execute(list, step({ fileName: 'boat' }, { runOptions: { timeout: 500 } }));
	expect(created()).toBe(1);
	await execute(list, step({ seed: 7 }));
	await execute(list, step({}, { model: byId('aurora-image-1') }));
	expect(created()).toBe(3);
});

it('Retry On Fail pays for nothing twice, whatever a random prompt returns', async () => {
	const parameters = step({}, { prompt: '={{ $json.prompt + Math.random() }}' });
	const list = items(['a', 'a boat'], ['b', '[reject: invalid_parameter 1] a ship']);
	const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
	await execute(list, parameters, settings);
	expect(created()).toBeLessThanOrEqual(2);
});

it.each([
	[false, 1],
	['={{ null }}', 1],
	['={{ $json.prompt === "a ship" }}', 2],
])('that is %s decides for each item', async (newOnChange, charged) => {
	await execute(items(['a', 'a boat']), step({ newOnChange }));
	await execute(items(['a', 'a ship']), step({ newOnChange }));
	expect(created()).toBe(charged);
});
