import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { readGeneration } from '../../client/api/generation';
import { listModels } from '../../sandbox/models/catalogue';
import { generationSchema } from '../../tools/output-schema';

/** Returns the keys that n8n shows of a node's output before it has run. */
function keysOf(file: string): { described: string[]; required: string[] } {
	const path = join(__dirname, '../../nodes', file);
	const schema = JSON.parse(readFileSync(path, 'utf8')) as {
		properties: object;
		required?: string[];
	};
	return { described: Object.keys(schema.properties), required: schema.required ?? [] };
}

describe('the preview of the output', () => {
	const model = Object.keys(listModels('all')[0]);
	const balance = [
		'object',
		'balance',
		'subscription_active',
		'lifetime_purchased',
		'lifetime_used',
	];
	const summary = [
		...['object', 'balance', 'period_start', 'period_end', 'period_used'],
		...['by_media_type', 'by_model'],
	];

	it.each([
		['GenerationModels/__schema__/v1.0.0/getAll.json', model],
		['GenerationCredits/__schema__/v1.0.0/getBalance.json', balance],
		['GenerationCredits/__schema__/v1.0.0/getSummary.json', summary],
	])('has the keys that items have, in their order: %s', (file, keys) => {
		const { described, required } = keysOf(file);
		expect(described).toEqual(keys);
		expect(described).toEqual(expect.arrayContaining(required));
	});

	it('of a generation has the keys and types of the items', () => {
		const { properties, required } = generationSchema();
		const response = {
			id: 'a',
			object: 'generation',
			status: 'completed',
			model: 'm',
			type: 'image',
		};
		const data = [{ url: 'https://storage/a.png', revised_prompt: 'A boat' }];
		for (const answer of [
			{ ...response, created: 1, data },
			{ ...response, created: 1, status: 'processing' },
		]) {
			const item = readGeneration(answer, 0)?.item ?? {};
			expect(Object.keys(properties)).toEqual(Object.keys(item));
			expect(required).toEqual(Object.keys(item));
			for (const [key, value] of Object.entries(item)) {
				const type = value === null ? 'null' : typeof value === 'number' ? 'integer' : typeof value;
				expect({ key, types: [properties[key].type].flat() }).toMatchObject({
					key,
					types: expect.arrayContaining([type]) as string[],
				});
			}
		}
	});
});
