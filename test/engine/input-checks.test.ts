import type { IDataObject } from 'n8n-workflow';

import { NOTHING_KNOWN } from '../support/answers';
import { checks, VALUE } from './input-cases';
import { openStage } from './stage';

const stage = openStage();

const itemOf = (value: unknown): IDataObject => ({ prompt: 'A boat', value }) as IDataObject;

describe.each(checks)('a bad $field', ({ node, parameters, good, bad, says }) => {
	it.each(bad.map((value) => [String(value).slice(0, 40), value]))(
		'is refused before anything is sent: %s',
		async (_shown, value) => {
			const items = [itemOf(good), itemOf(value)];
			const run = await stage.run(node, parameters, { items });
			expect(run.status).toBe('error');
			expect(run.error).toMatchObject({
				name: 'NodeApiError',
				message: expect.stringContaining(says),
				description: expect.stringMatching(
					/^[A-Z].+ Code: invalid_input\.( Generation: unknown\.)?$/s,
				),
				context: { itemIndex: 1, code: 'invalid_input' },
			});
			expect(stage.arrived).toBe(0);
		},
	);

	it('leaves the good items alone with Continue On Fail', async () => {
		const items = [itemOf(bad[0]), itemOf(good)];
		const settings = { onError: 'continueRegularOutput' as const };
		const quick = { waitForCompletion: false, downloadOutput: false };
		const run = await stage.run(node, { ...quick, ...parameters }, { items, settings });
		const [refused, made] = run.output('Step');
		expect(refused).toStrictEqual({
			json: {
				...NOTHING_KNOWN,
				...(node === 'waitForCompletion' && {
					id: parameters.generationId === VALUE ? null : 'unknown',
				}),
				error: expect.stringContaining(says),
				error_code: 'invalid_input',
			},
			pairedItem: { item: 0 },
		});
		if (node === 'waitForCompletion') expect(made.json.error_code).toBe('generation_not_found');
		else expect(made.json.id).toBe(stage.sandbox.books.generations[0].id);
		expect(
			stage.sandbox.requests.on(node === 'waitForCompletion' ? 'status' : 'create'),
		).toHaveLength(1);
	});
});
