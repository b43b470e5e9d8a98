import { sublimeSearch } from '@n8n/utils/search/sublime-search';
import type { CodexData } from 'n8n-workflow';

import { toAiTool } from '../engine/support/ai-tool';
import { nodeFiles, ownNodes } from '../../tools/own-nodes';

/** Returns every text in a form with its path. Names and values are skipped, because users do not see them. */
function textsIn(value: unknown, path: string): Array<[string, string]> {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([key, inner]): Array<[string, string]> => {
		const here = `${path}.${key}`;
		const isText = ['displayName', 'description', 'hint', 'placeholder', 'action'].includes(key);
		const isName = key === 'name' && 'value' in value;
		if (typeof inner === 'string') return isText || isName ? [[here, inner]] : [];
		return textsIn(inner, here);
	});
}

const texts = ownNodes.flatMap(({ description }) => textsIn(description, description.name));

it('the texts of the forms contain nothing that n8n would render as HTML', () => {
	expect(texts.length).toBeGreaterThan(150);
	expect(texts.filter(([, text]) => /[<>]|&\w+;/.test(text))).toEqual([]);
});

describe('as the tool of an agent', () => {
	it.each(ownNodes.map((node) => [node.description.displayName, node] as const))(
		'%s promises no file, and says what a call costs',
		(_, node) => {
			const { description } = toAiTool(node).description;
			expect(description).not.toMatch(/\bfile\b/i);
			expect(description).toMatch(/charge/i);
			expect(node.description.description.length).toBeLessThan(70);
		},
	);
});

/**
 * The search of n8n's panel weighs how letters follow each other, and whether a capital follows a small letter. A name
 * counts more than an alias, so an alias such as GeNeRaTe is needed for a node to come before others whose names begin
 * with Generation. Users do not see aliases.
 */
describe('the search of the node panel', () => {
	const codices = nodeFiles.map((file) => jest.requireActual<CodexData>(`${file}.json`));
	const items = ownNodes.map(({ description: { displayName } }, index) => ({
		key: displayName,
		properties: { displayName, codex: codices[index] },
	}));
	const found = (words: string) => sublimeSearch(words, items).map(({ item }) => item.key);

	it.each([
		['image', 'Image Generation'],
		['text to image', 'Image Generation'],
		['picture', 'Image Generation'],
		['photo', 'Image Generation'],
		['video', 'Video Generation'],
		['image to video', 'Video Generation'],
		['animate', 'Video Generation'],
		['clip', 'Video Generation'],
		['models', 'Generation Models'],
		['credits', 'Generation Credits'],
		['wait', 'Wait for Completion'],
	])('finds the expected node first by "%s": %s', (words, name) => {
		expect(found(words)[0]).toBe(name);
	});
});
