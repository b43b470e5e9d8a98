import type { IDataObject } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import { ownType } from '../support/workflow';
import { items, keyed, openKeyedStage } from './keyed';
import { byId } from './stage';

const { stage, tables, rows, created, execute } = openKeyedStage();

const idsOf = (outputs: Array<{ json: IDataObject }>) => outputs.map(({ json }) => json.id);
const headers = () =>
	stage.sandbox.requests.on('create').map(({ idempotencyKey }) => idempotencyKey);

describe('a key', () => {
	it('returns the same generation in every execution, and is charged once', async () => {
		const list = items(['a', 'a boat'], ['b', 'a ship']);
		const first = await execute(list);
		const second = await execute(list);
		expect(idsOf(second.output('Step'))).toEqual(idsOf(first.output('Step')));
		expect(created()).toBe(2);
		expect(second.hints('Step')).toMatchObject([
			{ message: expect.stringContaining('2 reused, no charge') },
		]);
	});

	it('has a row with useful columns, and never with the API key', async () => {
		const run = await execute(items(['a', 'a boat']));
		const [{ id }] = run.output('Step').map(({ json }) => json);
		expect(rows()).toMatchObject([
			{
				key: 'a',
				workflow_id: 'the-workflow',
				node_id: 'the-node',
				execution_id: run.executionId,
				generation_id: id,
				status: 'completed',
				type: 'image',
				model: 'lumen-turbo',
				prompt: 'a boat',
				request: expect.stringMatching(/^[\da-f]{32}$/) as string,
				writer: expect.stringMatching(/./) as string,
			},
		]);
		expect(JSON.stringify(tables.tables)).not.toContain(stage.sandbox.keys.main);
	});

	it('that two items of a step share is one generation', async () => {
		const run = await execute(items(['a', 'a boat'], ['a', 'a boat'], ['b', 'a ship']));
		const ids = idsOf(run.output('Step'));
		expect(ids).toHaveLength(3);
		expect(ids[0]).toBe(ids[1]);
		expect(created()).toBe(2);
	});

	it('that several executions use at the same moment is one generation, and all return it', async () => {
		const list = items(['a', 'a boat'], ['b', 'a ship'], ['c', 'a raft']);
		const runs = await Promise.all([execute(list), execute(list), execute(list)]);
		const ids = runs.map((run) => idsOf(run.output('Step')));
		expect(ids[0]).toHaveLength(3);
		expect(ids[1]).toEqual(ids[0]);
		expect(ids[2]).toEqual(ids[0]);
		expect(created()).toBe(3);
		expect(rows()).toHaveLength(3);
	});

	it('whose generation failed gets a new one, and the row of the failed one stays', async () => {
		const match = { promptIncludes: 'boat' };
		stage.sandbox.faults.order({ on: 'create', match, action: { kind: 'fail' } });
		expect((await execute(items(['a', 'a boat']))).status).toBe('error');
		expect((await execute(items(['a', 'a boat']))).status).toBe('success');
		expect(stage.sandbox.books.liveChargesFor('a boat')).toBe(1);
		expect(rows().map(({ status }) => status)).toEqual(['failed', 'completed']);
		// A new order, so that a service that knows the header does not return the failed generation.
		expect(new Set(headers()).size).toBe(2);
	});

	it('decides alone: if the request has changed, its generation is returned, and a hint says so', async () => {
		const first = await execute(items(['a', 'a boat'], ['b', 'a raft']));
		const second = await execute(items(['a', 'a ship'], ['b', 'a raft']));
		expect(idsOf(second.output('Step'))).toEqual(idsOf(first.output('Step')));
		expect(second.hints('Step')).toContainEqual(
			expect.objectContaining({
				message: expect.stringMatching(
					/Item 1 of 2 returned the existing output of the idempotency key, although the prompt or a setting is different\. .*add the option New Output If the Request Changes\./,
				),
			}),
		);
	});
});

it('a hint names the items that alone have no key', async () => {
	const run = await execute(items(['a', 'a boat'], ['', 'a raft']));
	expect(run.hints('Step')).toContainEqual({
		...{ type: 'warning', location: 'outputPane' },
		message: 'Item 2 of 2 without an Idempotency Key: every run is charged again.',
	});
	const all = await execute(items(['', 'a boat'], ['', 'a raft']));
	expect(all.hints('Step')).toEqual([]);
});

it('an ID that the service no longer knows is an error with the key and the row', async () => {
	await execute(items(['a', 'a boat']));
	rows()[0].generation_id = '00000000-0000-4000-8000-000000000000';
	const run = await execute(items(['a', 'a boat']));
	expect(run.error).toMatchObject({ context: { code: 'generation_not_found' } });
	expect(run.error).toHaveProperty(
		'description',
		expect.stringMatching(/key "a" \(row 2 of the data table media_generations\).*delete that row/),
	);
	expect(created()).toBe(1);
});

it('a file that the storage no longer has is an error with the key and the row', async () => {
	const download = { ...keyed, downloadOutput: true };
	await execute(items(['a', 'a boat']), download);
	const action = { kind: 'respond', status: 404 } as const;
	stage.sandbox.faults.order({ on: 'download', times: 'always', action });
	const run = await execute(items(['a', 'a boat']), download);
	expect(run.error).toMatchObject({ context: { code: 'download_failed' } });
	expect(run.error).toHaveProperty(
		'description',
		expect.stringMatching(
			/idempotency key "a" \(row \d+ of the data table media_generations\)\. .* delete that row/,
		),
	);
	expect(created()).toBe(1);
});

it('a definite rejection leaves the key free', async () => {
	const first = await execute(items(['a', 'a boat [reject: invalid_parameter 1]']));
	expect(first.status).toBe('error');
	expect(rows()).toEqual([]);
	expect((await execute(items(['a', 'a boat [reject: invalid_parameter 1]']))).status).toBe(
		'success',
	);
});

it('an item that is rejected before anything is sent leaves no reserved keys of the other items', async () => {
	const run = await execute(items(['a', 'a boat'], ['b', '']));
	expect(run.error).toMatchObject({ context: { itemIndex: 1, code: 'invalid_input' } });
	expect(tables.tables).toEqual([]);
});

it('every creating request has its own name, even without a key', async () => {
	await execute(items([null, 'a boat'], [null, 'a ship']), { downloadOutput: false });
	expect(new Set(headers()).size).toBe(2);
	expect(headers()).not.toContain(null);
	expect(tables.tables).toEqual([]);
});

it.each(['invoke', 'engine'] as const)(
	'the tool of an agent can have a key, on the path %s',
	async (path) => {
		const prompt = "={{ $fromAI('prompt', 'what to make', 'string') }}";
		const parameters = {
			model: byId('lumen-turbo'),
			prompt,
			options: { idempotencyKey: prompt, size: '64x64' },
		};
		const options = { credentials: stage.credentials(), path };
		const calls = ['a boat', 'a boat', 'an undefined ship'].map((text) => ({ prompt: text }));
		const ran = await stage.engine.runAsTool(
			ownType('imageGeneration'),
			parameters,
			calls,
			options,
		);
		const ids = ran.calls.map(({ response }) => (JSON.parse(response) as IDataObject[])[0].id);
		expect(ids[0]).toBe(ids[1]);
		expect(created()).toBe(2);
		expect(rows()).toHaveLength(2);
	},
);

it('the tool of an agent answers within a minute, although the data table does not, and creates nothing', async () => {
	tables.before = async () => await new Promise(() => undefined);
	const model = byId('lumen-turbo');
	const parameters = { model, prompt: 'a boat', options: { idempotencyKey: 'k', size: '64x64' } };
	const began = wallClock.now();
	const options = { credentials: stage.credentials(), path: 'invoke' } as const;
	const ran = await stage.engine.runAsTool(ownType('imageGeneration'), parameters, {}, options);
	expect(wallClock.now() - began).toBeLessThan(60_000);
	expect(JSON.stringify([ran.calls, ran.run.error])).toContain(
		'The tool stopped, because there was no response in time',
	);
	expect(created()).toBe(0);
});
