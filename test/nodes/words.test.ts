import { sublimeSearch } from '@n8n/utils/search/sublime-search';
import { NodeHelpers, type CodexData, type INode, type INodeProperties } from 'n8n-workflow';

import { toAiTool } from '../engine/support/ai-tool';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
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

/** Returns every field of the forms, including those in collections. */
function fieldsIn(properties: INodeProperties[]): INodeProperties[] {
	return properties.flatMap((field) => {
		const inner = (field.options ?? []).flatMap((each) =>
			'values' in each ? each.values : [each],
		);
		return [
			field,
			...fieldsIn(inner.filter((each): each is INodeProperties => 'displayName' in each)),
		];
	});
}

const fields = [
	...ownNodes.map(({ description }) => description),
	new MediaGenerationApi(),
].flatMap(({ properties }) => fieldsIn(properties));

const texts = ownNodes.flatMap(({ description }) => textsIn(description, description.name));

describe('the texts of the forms', () => {
	it('contain nothing that n8n would render as HTML', () => {
		expect(texts.length).toBeGreaterThan(150);
		expect(texts.filter(([, text]) => /[<>]|&\w+;/.test(text))).toEqual([]);
	});

	it('explain a field in one sentence', () => {
		const tooltips = fields.flatMap(({ name, description }) =>
			description ? [[name, description]] : [],
		);
		expect(tooltips.length).toBeGreaterThan(50);
		const long = ([, text]: string[]) => /[.!?]\s|\.$/.test(text) || text.split(' ').length > 25;
		expect(tooltips.filter(long)).toEqual([]);
	});

	it('do not repeat themselves', () => {
		const doubled = texts.filter(([, text]) => {
			const sentences = text.split(/(?<=\.) /);
			return new Set(sentences).size < sentences.length;
		});
		expect(doubled).toEqual([]);
	});

	it('of Wait for Completion name neither slots nor a prompt, which it does not need', () => {
		const own = texts.filter(([path]) => path.startsWith('waitForCompletion.'));
		expect(own.length).toBeGreaterThan(20);
		expect(own.filter(([, text]) => /\b(slots?|prompt)\b/i.test(text))).toEqual([]);
	});

	it('name the toggle of the creating nodes differently from the node Wait for Completion', () => {
		const names = fields.map(({ displayName }) => displayName);
		const nodes = ownNodes.map(({ description }) => description.displayName);
		expect(names.filter((name) => nodes.includes(name))).toEqual([]);
	});

	it('give an example in every placeholder of a text field', () => {
		const fields = texts.filter(([path]) => path.endsWith('.placeholder'));
		const prompts = fields.filter(([, text]) => !/^(e\.g\. |Add |Select )/.test(text));
		expect(prompts).toEqual([]);
	});
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

	it('the fields that would have no effect are not shown', () => {
		const shown = (name: string, tool: boolean) => {
			const [image] = ownNodes;
			const { description } = tool ? toAiTool(image) : image;
			const options = description.properties.find((field) => field.name === 'options')?.options;
			const field = [...description.properties, ...((options ?? []) as INodeProperties[])].find(
				(each) => each.name === name,
			) as INodeProperties;
			const parameters = { waitForCompletion: true, downloadOutput: true };
			const node = { parameters } as unknown as INode;
			return NodeHelpers.displayParameter(parameters, field, node, description);
		};
		const fields = [
			...['prompt', 'waitForCompletion', 'downloadOutput', 'binaryPropertyName', 'fileName'],
		];
		expect(fields.map((name) => shown(name, false))).toEqual([true, true, true, true, true]);
		expect(fields.map((name) => shown(name, true))).toEqual([true, true, false, false, false]);
	});
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
		...['image', 'generate image', 'create image', 'AI image', 'text to image', 'edit image'],
		...['picture', 'photo', 'art', 'illustration'],
	])('finds Image Generation first by "%s"', (words) => {
		expect(found(words)[0]).toBe('Image Generation');
	});

	it.each([
		...['video', 'generate video', 'create video', 'AI video', 'text to video', 'image to video'],
		...['animate', 'animation', 'clip', 'movie'],
	])('finds Video Generation first by "%s"', (words) => {
		expect(found(words)[0]).toBe('Video Generation');
	});

	it('finds Wait for Completion by "wait" before most messaging nodes of n8n', () => {
		const [wait] = sublimeSearch('wait', items);
		// n8n's own nodes have the alias Wait (295), and up to 100 more for their popularity.
		expect(wait.score).toBeGreaterThanOrEqual(365);
	});

	it.each(['media', 'media generation', 'generate'])('finds both first by "%s"', (words) => {
		expect(found(words).slice(0, 2)).toEqual(['Image Generation', 'Video Generation']);
	});

	it.each([
		['models', 'Generation Models'],
		['catalogue', 'Generation Models'],
		['credits', 'Generation Credits'],
		['balance', 'Generation Credits'],
		['poll', 'Wait for Completion'],
		['status', 'Wait for Completion'],
		['wait', 'Wait for Completion'],
	])('finds the expected node by "%s": %s', (words, name) => {
		expect(found(words)[0]).toBe(name);
	});
});
