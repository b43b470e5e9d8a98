/** A batch from a sheet as a user runs it: twelve rows, two images each, a spending limit, run twice with a key. */
import type { IDataObject } from 'n8n-workflow';

import { itemsOf } from '../../tools/n8n/executions';
import { DataTable } from './support/data-table';
import { Stage } from './support/stage';
import { byHand, imageNode, trigger } from './support/workflows';

const FAILING = 3;
const UNAVAILABLE = 7;
const trouble: Record<number, string> = {
	[FAILING]: ' [fail: no paint]',
	[UNAVAILABLE]: ' [reject: model_unavailable]',
};
const prompts = Array.from({ length: 12 }, (_, row) => `poster ${row}${trouble[row] ?? ''}`);

/** The sheet has a second column. */
const sku = {
	id: 'sku',
	name: 'Sheet',
	type: 'n8n-nodes-base.set',
	typeVersion: 3.4,
	parameters: {
		assignments: {
			assignments: [
				{
					id: '1',
					name: 'sku',
					type: 'string',
					value: '={{ "sku-" + $json.prompt.split(" ")[1] }}',
				},
			],
		},
		includeOtherFields: true,
		options: {},
	},
};

const { parameters, ...images } = imageNode({ maxNewGenerations: 20, maxConcurrent: 5 });
const step = {
	...images,
	onError: 'continueRegularOutput' as const,
	parameters: {
		...parameters,
		numberOfOutputs: 2,
		options: { idempotencyKey: '={{ $json.sku }}', includeOtherFields: true, size: '256x256' },
	},
};

let stage: Stage;
beforeAll(async () => {
	stage = await Stage.open({ name: 'story', sandbox: { timeScale: 10 } });
});
afterAll(async () => await stage?.close());

it('twelve rows with two images each, run twice: checks what is created, charged, named and returned', async () => {
	const workflow = await stage.save(byHand('Posters', prompts, sku, step));
	const run = async () => {
		const ended = await stage.executions.ended(await stage.executions.run(workflow, trigger));
		expect(ended.status).toBe('success');
		return itemsOf(ended, 'Images').map(({ json, binary }) => ({
			json: { ...json, ...(json.generation as IDataObject) } as IDataObject,
			binary,
		}));
	};
	const created = () => stage.sandbox.books.totals.created;

	// The first run creates 20 generations, up to the limit. One row fails and is refunded, and one cannot be created.
	const first = await run();
	expect(first.map(({ json }) => json.sku)).toEqual(
		prompts.flatMap((_, row) => [`sku-${row}`, `sku-${row}`]),
	);
	expect(created()).toBe(20);
	const done = first.filter(({ json }) => json.status === 'completed');
	expect(done).toHaveLength(18);
	for (const { json, binary } of done) {
		expect(json).toMatchObject({
			id: expect.any(String),
			model: 'aurora-image-1',
			url: expect.any(String),
		});
		expect(binary?.data.fileName).toMatch(/^poster-\d+-[\da-z]{8}\.png$/);
	}
	const codes = first.flatMap(({ json }) => (json.error_code ? [json.error_code] : []));
	expect(codes.filter((code) => code === 'generation_failed')).toHaveLength(2);
	expect(codes).toContain('generation_limit_reached');
	expect(codes).toHaveLength(6);

	// The second run reuses what exists, and creates what failed or was beyond the limit.
	const second = await run();
	expect(created()).toBe(24);
	expect(second.filter(({ json }) => json.status === 'completed')).toHaveLength(20);
	const ids = second.map(({ json }) => json.id);
	expect(ids).toEqual(expect.arrayContaining(done.map(({ json }) => json.id)));
	const left = second.flatMap(({ json }) => (json.error_code ? [json.error_code] : []));
	expect(left.sort()).toEqual([
		...['generation_failed', 'generation_failed', 'model_unavailable', 'model_unavailable'],
	]);

	// Each image is charged once, and the table names it.
	for (const [row, prompt] of prompts.entries()) {
		const wanted = row in trouble ? 0 : 2;
		expect([prompt, stage.sandbox.books.liveChargesFor(prompt)]).toEqual([prompt, wanted]);
	}
	const rows = await (await DataTable.of(stage.rest)).rows();
	const completed = rows.filter(({ status }) => status === 'completed');
	const names = prompts.flatMap((_, row) => (row in trouble ? [] : [`sku-${row}`, `sku-${row}#2`]));
	expect(completed.map(({ key }) => key).sort()).toEqual(names.sort());
});
