import type { IDataObject } from 'n8n-workflow';

import { openKeyedStage } from './keyed';

const { stage, rows, created, execute } = openKeyedStage();

const FAILING = 3;
const UNAVAILABLE = 7;

/** Twelve rows of a sheet. The generation of one fails, and the model of another is unavailable. */
const sheet: IDataObject[] = Array.from({ length: 12 }, (_, index) => ({
	sku: `sku-${index}`,
	prompt: `[seconds: 1] poster ${index}${
		{ [FAILING]: ' [fail: no paint]', [UNAVAILABLE]: ' [reject: model_unavailable]' }[index] ?? ''
	}`,
}));

const batch = {
	downloadOutput: false,
	numberOfOutputs: 2,
	options: { idempotencyKey: '={{ $json.sku }}', includeOtherFields: true },
	runOptions: { maxNewGenerations: 20, maxConcurrent: 5 },
};

const run = async () => {
	const done = await execute(sheet, batch, { onError: 'continueRegularOutput' });
	expect(done.status).toBe('success');
	const items = done
		.output('Step')
		.map(({ json }) => ({ ...json, ...(json.generation as object) }));
	return { items: items as IDataObject[], hints: done.hints('Step') };
};

const codesOf = (items: IDataObject[], ...codes: string[]) =>
	items.filter(({ error_code: code }) => codes.includes(String(code)));

it('a batch of twelve rows with two images each, run twice with a key and a limit of 20, meets expectations', async () => {
	const first = await run();
	expect(first.items).toHaveLength(24);
	// Every output is beside the columns of its row, in the order of the sheet.
	expect(first.items.map(({ sku }) => sku)).toEqual(sheet.flatMap(({ sku }) => [sku, sku]));
	expect(created()).toBe(20);
	expect(codesOf(first.items, 'generation_failed')).toHaveLength(2);
	// The limit may be reached between two requests for the model that is unavailable.
	expect(codesOf(first.items, 'generation_limit_reached', 'model_unavailable')).toHaveLength(4);
	expect(first.items.filter(({ status }) => status === 'completed')).toHaveLength(18);
	expect(first.hints.map(({ type }) => type)).toContain('warning');

	const second = await run();
	// The two failed ones and the two beyond the limit are created, and nothing else.
	expect(created()).toBe(24);
	expect(second.items.filter(({ status }) => status === 'completed')).toHaveLength(20);
	expect(codesOf(second.items, 'generation_failed')).toHaveLength(2);
	expect(codesOf(second.items, 'model_unavailable')).toHaveLength(2);
	const before = first.items.filter(({ status }) => status === 'completed').map(({ id }) => id);
	expect(second.items.map(({ id }) => id)).toEqual(expect.arrayContaining(before));
	for (const { prompt } of sheet.filter((_, index) => ![FAILING, UNAVAILABLE].includes(index))) {
		expect(stage.sandbox.books.liveChargesFor(String(prompt))).toBe(2);
	}
	const keys = rows().flatMap(({ status, key }) => (status === 'completed' ? [key] : []));
	expect(new Set(keys).size).toBe(20);
	expect(keys).toHaveLength(20);
});
