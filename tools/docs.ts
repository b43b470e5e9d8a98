/** npm run format: writes the tables and lists of the documentation that the code defines. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeProperties, INodeType } from 'n8n-workflow';

import { BY_CODE } from '../client/api/error-table';
import { ownNodes } from './own-nodes';
import { listOf, tableOf, writeSections, type Row } from './tables';

const ownDescriptions = ownNodes.map(({ description }) => description);

/** Defaults that differ from those of a field in the form. */
const DEFAULTS: Record<string, string> = {
	fileName: 'from prompt',
	includeOtherFields: 'off; on when added',
	maxCredits: 'none; 100 when added',
	maxNewGenerations: 'none; 10 when added',
	minimumBalance: 'none; 0 when added',
	newOnChange: 'off; on when added',
	seed: 'none; 0 when added',
};

/** Returns the tables and lists by the names of their markers. */
export function codeSections(): Map<string, string> {
	return new Map([
		['nodes', tableOf(nodeRows())],
		['fields', tableOf(mainFieldRows())],
		['options', tableOf(optionRows('options'))],
		['run-options', tableOf(optionRows('runOptions'))],
		['errors', listOf(errorEntries())],
		['releases', tableOf(releaseRows())],
	]);
}

function nodeRows(): Row[] {
	return ownDescriptions.map(({ displayName, description }) => ({
		node: `**${displayName}**`,
		'what it does': description ?? '',
	}));
}

/** The fields of the README, in its order. The others are on the page of all options. */
const MAIN_FIELDS = [
	...['model', 'prompt', 'numberOfOutputs', 'aspectRatio', 'referenceInputs', 'imageSource'],
	...[
		'imageUrl',
		'resolution',
		'duration',
		'waitForCompletion',
		'downloadOutput',
		'idempotencyKey',
	],
	...['maxConcurrent', 'timeout'],
];

/** The nodes that create, which have a model and a prompt. */
function creatingNodes(): Array<INodeType['description']> {
	return ownDescriptions.filter(({ properties }) => isIn(properties, 'prompt'));
}

function mainFieldRows(): Row[] {
	const nodes = creatingNodes();
	return MAIN_FIELDS.map((name) => {
		const found = nodes.flatMap(({ displayName, properties }) =>
			[undefined, 'options', 'runOptions'].flatMap((collection) => {
				const fields = collection ? collectionIn(properties, collection) : properties;
				const field = fields.find((each) => each.name === name);
				return field ? [{ field, collection, node: displayName.split(' ')[0] }] : [];
			}),
		);
		const fields = found.map(({ field }) => field);
		const [{ collection }] = found;
		const place = { options: 'Options → ', runOptions: 'Run Options → ' }[collection ?? ''] ?? '';
		return {
			field: `${place}${[...new Set(fields.map(({ displayName }) => displayName))].join(', ')}`,
			node: found.map(({ node }) => node).join(', '),
			default: defaultOf(fields),
			'what it does': found.length > 1 ? ofBoth(textOf(fields[0])) : textOf(fields[0]),
		};
	});
}

/**
 * All options of the creating nodes.
 *
 * @param collection `options`: what is created, or `runOptions`: how the step runs
 */
function optionRows(collection: string): Row[] {
	const all = creatingNodes().flatMap(({ displayName: node, properties }) =>
		collectionIn(properties, collection)
			.filter((field) => !isForOldWorkflows(field))
			.map((field) => ({ node: node.split(' ')[0], field })),
	);
	return [...new Set(all.map(({ field }) => field.displayName))]
		.sort((one, other) => one.localeCompare(other))
		.map((displayName) => {
			const found = all.filter(({ field }) => field.displayName === displayName);
			const fields = found.map(({ field }) => field);
			const [field] = fields;
			return {
				option: displayName,
				node: found.map(({ node }) => node).join(', '),
				default: defaultOf(fields),
				'what it does': `${textOf(field)}${choicesOf(field)}`,
			};
		});
}

/** A text of Image Generation, as it is for videos too. */
function ofBoth(text: string): string {
	return text.replace(
		/\bimages?\b(?! or video)/g,
		(word) => `${word} or ${word.replace('image', 'video')}`,
	);
}

/** Returns true for a field that n8n shows only where it is already used. */
function isForOldWorkflows({ name, displayOptions }: INodeProperties): boolean {
	return displayOptions?.show !== undefined && name in displayOptions.show;
}

function textOf({ description, hint }: INodeProperties): string {
	return description ?? hint ?? '';
}

function isIn(properties: INodeProperties[], name: string): boolean {
	return properties.some((field) => field.name === name);
}

function collectionIn(properties: INodeProperties[], name: string): INodeProperties[] {
	const collection = properties.find((field) => field.name === name);
	return (collection?.options ?? []) as INodeProperties[];
}

function choicesOf({ type, options = [] }: INodeProperties): string {
	return type === 'options' ? `: ${options.map(({ name }) => name).join(', ')}` : '';
}

/** Returns the default of a field, and several if it differs between nodes. */
function defaultOf([field, ...others]: INodeProperties[]): string {
	const own = [field, ...others].map(({ default: value, options = [] }) => {
		const choice = options.find((option) => 'value' in option && option.value === value);
		if (choice) return choice.name;
		if (typeof value === 'boolean') return value ? 'on' : 'off';
		const isNothing = value === '' || value === '{}' || typeof value === 'object';
		return isNothing ? '' : String(value);
	});
	const [first, second] = [...new Set(own)];
	const both = second === undefined ? first : `${first} (image), ${second} (video)`;
	return DEFAULTS[field.name] ?? both;
}

/** The errors of the service, with the advice that the nodes give. Codes with the same text share a row. */
function errorEntries(): string[] {
	const codes = Object.keys(BY_CODE);
	return [...new Set(Object.values(BY_CODE))].map((row) => {
		const same = codes.filter((code) => BY_CODE[code] === row).map((code) => `\`${code}\``);
		return `${same.join(', ')}: **${row.title}.** ${row.advice}`;
	});
}

/** The releases of n8n in `tools/n8n/releases`, the newest first. */
function releaseRows(): Row[] {
	const folder = join(__dirname, 'n8n', 'releases');
	const versionIn = (name: string) => {
		const { dependencies } = JSON.parse(
			readFileSync(join(folder, name, 'package.json'), 'utf8'),
		) as { dependencies: { n8n: string } };
		return dependencies.n8n;
	};
	const entries = readdirSync(folder, { withFileTypes: true });
	const older = entries.filter((entry) => entry.isDirectory() && entry.name !== 'current');
	const versions = older.map(({ name }) => versionIn(name));
	versions.sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
	const parts =
		'the nodes, the credential, the main example, files, retries, stopping, and from 2.3 idempotency keys';
	return [
		{ n8n: versionIn('current'), tested: 'everything' },
		{ n8n: versions.join(', '), tested: parts },
	];
}

if (require.main === module) writeSections('code', codeSections());
