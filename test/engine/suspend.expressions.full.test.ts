import type { INodeParameters } from 'n8n-workflow';

import { wakeThrough } from './asleep';
import { openStage } from './stage';

/** Suspended waits whose expressions fail for one item: a failed item does not keep the others from sleeping. */

const stage = openStage();

/** n8n throws for a reference to a node that does not exist. */
const failing = "$('Nowhere').item.json.x";
const settings = { onError: 'continueRegularOutput' as const };

/** Suspends a wait for two generations, and returns its output when both have ended. */
async function waitForTwo(parameters: INodeParameters) {
	const ids = [
		await stage.made('a boat [seconds: 900]'),
		await stage.made('a ship [seconds: 900]'),
	];
	const items = ids.map((id, index) => ({ id, index }));
	const all = { mode: 'suspend', ...parameters };
	const asleep = await stage.run('waitForCompletion', all, { items, settings });
	expect([asleep.status, asleep.hints('Step')]).toEqual(['waiting', []]);
	ids.forEach((id) => stage.sandbox.service.finish(id));
	return { output: (await wakeThrough(stage, asleep)).output('Step') };
}

it.each<[string, INodeParameters]>([
	['Generation ID', { generationId: `={{ $json.index ? ${failing} : $json.id }}` }],
	['Mode', { mode: `={{ $json.index ? ${failing} : "suspend" }}` }],
	[
		'Put Output in Field',
		{ options: { binaryPropertyName: `={{ $json.index ? ${failing} : "data" }}` } },
	],
	['File Name', { options: { fileName: `={{ $json.index ? ${failing} : "boat" }}` } }],
	['Timeout', { runOptions: { timeout: `={{ $json.index ? ${failing} : 900 }}` } }],
])('only the item whose %s fails is an error, and the wait is suspended', async (_, parameters) => {
	const { output } = await waitForTwo(parameters);
	expect(output.map(({ json }) => json.error_code ?? json.status)).toEqual([
		...['completed', 'invalid_input'],
	]);
});

it('if the first item fails, the others keep their own options', async () => {
	const fileName = `={{ $json.index ? "ship" : ${failing} }}`;
	const { output } = await waitForTwo({ options: { fileName, includeOtherFields: true } });
	expect(output.map(({ json }) => json)).toMatchObject([
		{ error_code: 'invalid_input', index: 0 },
		{ generation: { status: 'completed' }, index: 1 },
	]);
	expect(output[1].binary?.data.fileName).toBe('ship.png');
});

it('if the first item fails, the others keep their own timeout', async () => {
	const id = await stage.made('a boat [seconds: 90000]');
	const runOptions = { timeout: `={{ $json.id ? 7200 : ${failing} }}` };
	const parameters = { mode: 'suspend', runOptions };
	const order = { items: [{}, { id }], settings };
	const asleep = await stage.run('waitForCompletion', parameters, order);
	stage.leap(2000);
	expect((await wakeThrough(stage, asleep)).status).toBe('waiting');
});
