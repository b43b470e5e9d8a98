import { NodeApiError, type INodeExecutionData } from 'n8n-workflow';

import { GenerationError } from '../../../client/api/errors';
import type { GenerationItem } from '../../../client/api/generation';
import type { Outcome } from '../../../client/outcome';
import { errorItem, outputItems, type Output } from '../../../nodes/shared/output/results';
import { contextOf, type Given } from '../../support/context';

const completed: GenerationItem = {
	id: 'a',
	status: 'completed',
	type: 'image',
	model: 'aurora-image-1',
	created: 1,
	url: 'https://storage.example.com/a.png',
	url_expires_at: null,
	revised_prompt: null,
	timed_out: false,
};

const failed = new GenerationError({
	title: 'The generation failed',
	description: 'Mend it',
	code: 'generation_failed',
	generation: { id: 'x', status: 'failed' },
});

describe('the output items', () => {
	it('always have the same keys, also of a generation of which only the id is known', () => {
		const outcomes: Array<Outcome<Output>> = [{ kind: 'stopped', generation: { id: 'b' } }];
		const [{ json }] = outputItems(contextOf().step, outcomes);
		const unknown = Object.fromEntries(Object.keys(completed).map((key) => [key, null]));
		expect(json).toEqual({ ...unknown, id: 'b', timed_out: false });
	});

	it('have the same keys where the item failed, and two more', () => {
		const keys = (outcome: Outcome<Output>) =>
			Object.keys(outputItems(contextOf().step, [outcome])[0].json).sort();
		const all = [...Object.keys(completed), 'error', 'error_code'].sort();
		expect(keys({ kind: 'error', error: failed })).toEqual(all);
		expect(keys({ kind: 'error', error: failed.with({ generation: completed }) })).toEqual(all);
		const [{ json }] = outputItems(contextOf().step, [
			{ kind: 'error', error: failed.with({ generation: null }) },
		]);
		expect(json).toMatchObject({ id: null, status: null, url: null, timed_out: false });
	});

	it('have the code as the service writes it', () => {
		const error = new GenerationError({
			title: 'Paused',
			description: 'Resume it',
			code: 'CONNECTION_PAUSED',
		});
		const [{ json }] = outputItems(contextOf().step, [{ kind: 'error', error }]);
		expect(json.error_code).toBe('CONNECTION_PAUSED');
	});

	it('are one for each outcome with output, in order and paired', () => {
		const binary = { data: '', mimeType: 'image/png' };
		const outcomes: Array<Outcome<Output>> = [
			{ kind: 'done', generation: completed, output: { propertyName: 'picture', binary } },
			{ kind: 'error', error: failed },
			{ kind: 'stopped', generation: null },
			{ kind: 'stopped', generation: { id: 'b', status: 'pending' } },
			{ kind: 'done', generation: completed, output: null },
		];
		expect(outputItems(contextOf().step, outcomes)).toEqual([
			{ json: completed, binary: { picture: binary }, pairedItem: { item: 0 } },
			{ json: expect.objectContaining({ id: 'x' }) as object, pairedItem: { item: 1 } },
			{
				json: expect.objectContaining({ id: 'b', status: 'pending' }) as object,
				pairedItem: { item: 3 },
			},
			{ json: completed, pairedItem: { item: 4 } },
		]);
	});
});

describe('the item of a failure', () => {
	it('says what happened and to which generation', () => {
		expect(errorItem(contextOf().step, failed, 0)).toEqual({
			json: {
				error: 'The generation failed. Status checks charge nothing. Mend it. Generation: x.',
				error_code: 'generation_failed',
				id: 'x',
				status: 'failed',
			},
			pairedItem: { item: 0 },
		});
	});

	it('has no id where there is no generation, and no status where none is known', () => {
		const bare = failed.with({ generation: null });
		expect(Object.keys(errorItem(contextOf().step, bare, 0).json)).toEqual(['error', 'error_code']);
		const known = errorItem(contextOf().step, failed.with({ generation: { id: 'y' } }), 0);
		expect(known.json).toMatchObject({ id: 'y' });
		expect(known.json).not.toHaveProperty('status');
	});

	it('of an error output keeps the input’s own fields, and carries the error unseen', () => {
		const given: Given = {
			node: { onError: 'continueErrorOutput' },
			items: [{ json: {} }, { json: { customer: 7, id: 'own' } }],
		};
		const item: INodeExecutionData = errorItem(contextOf(given).step, failed, 1);
		expect(item.json).toEqual({
			customer: 7,
			error: 'The generation failed. Status checks charge nothing. Mend it. Generation: x.',
			error_code: 'generation_failed',
			id: 'x',
			status: 'failed',
		});
		expect(item.pairedItem).toEqual({ item: 1 });
		expect(item.error).toBeInstanceOf(NodeApiError);
		expect(Object.keys(item)).toEqual(['json', 'pairedItem']);
	});
});
