/**
 * The output schema of the nodes that return generations, which n8n shows before they have run. The build writes it for
 * every node that has no `__schema__` of its own.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { NOTHING_KNOWN } from '../client/api/generation';

/** The types of keys that every generation of the service has. Any other key may be `null`. */
const ALWAYS_KNOWN: Record<string, string> = {
	status: 'string',
	model: 'string',
	type: 'string',
	id: 'string',
	created: 'integer',
};

/** Returns the schema of an item, with the keys of `NOTHING_KNOWN` in their order. */
export function generationSchema() {
	const properties = Object.entries(NOTHING_KNOWN).map(([key, unknown]) => {
		const type = ALWAYS_KNOWN[key] ?? (unknown === null ? ['string', 'null'] : typeof unknown);
		return [key, { type }] as const;
	});
	return {
		type: 'object',
		properties: Object.fromEntries(properties),
		required: Object.keys(NOTHING_KNOWN),
		version: 1,
	};
}

/**
 * Writes the schema into `dist`.
 *
 * @param nodes the built files that package.json names
 */
export function writeGenerationSchemas(root: string, nodes: string[]): void {
	for (const folder of nodes.map(dirname)) {
		if (existsSync(join(root, folder.replace(/^dist/, '.'), '__schema__'))) continue;
		mkdirSync(join(root, folder, '__schema__'), { recursive: true });
		const text = `${JSON.stringify(generationSchema(), null, '\t')}\n`;
		writeFileSync(join(root, folder, '__schema__', 'v1.0.0.json'), text);
	}
}
