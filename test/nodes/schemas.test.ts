import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { NOTHING_KNOWN } from '../../client/api/generation';
import { listModels } from '../../sandbox/models/catalogue';

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
	const generation = Object.keys(NOTHING_KNOWN);
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
		['ImageGeneration/__schema__/v1.0.0.json', generation],
		['VideoGeneration/__schema__/v1.0.0.json', generation],
		['WaitForCompletion/__schema__/v1.0.0.json', generation],
		['GenerationModels/__schema__/v1.0.0/get.json', model],
		['GenerationModels/__schema__/v1.0.0/getAll.json', model],
		['GenerationCredits/__schema__/v1.0.0/getBalance.json', balance],
		['GenerationCredits/__schema__/v1.0.0/getSummary.json', summary],
	])('has the keys that items have, in their order: %s', (file, keys) => {
		const { described, required } = keysOf(file);
		expect(described).toEqual(keys);
		expect(described).toEqual(expect.arrayContaining(required));
	});
});
