/** npm run format: writes the tables of the documentation that the code defines. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeProperties, INodeType } from 'n8n-workflow';

import { BY_CODE } from '../client/api/error-table';
import { NOT_REQUESTED } from '../nodes/shared/form/parameters';
import manifest from '../package.json';
import { tableOf, writeSections, type Row } from './tables';

/** Defaults that differ from those of a field in the form. */
const DEFAULTS: Record<string, string> = {
	fileName: 'from prompt',
	maxNewGenerations: 'none; 10 when added',
};

/** Returns the tables by the names of their markers. */
export function codeSections(): Map<string, string> {
	return new Map([
		['nodes', tableOf(nodeRows())],
		['options', tableOf(optionRows())],
		['errors', tableOf(errorRows())],
		['releases', tableOf(releaseRows())],
	]);
}

function nodeRows(): Row[] {
	return manifest.n8n.nodes.map(nodeIn).map(({ displayName, description }) => ({
		node: `**${displayName}**`,
		'what it does': description ?? '',
	}));
}

/** The options of the creating nodes. Those that belong to the request share a row. */
function optionRows(): Row[] {
	const nodes = manifest.n8n.nodes
		.map(nodeIn)
		.filter(({ properties }) => isIn(properties, 'model'));
	const [options, runOptions] = ['options', 'runOptions'].map((collection) => {
		const all = nodes.flatMap(({ properties }) => collectionIn(properties, collection));
		return [...new Set(all.map(({ name }) => name))].map((name) =>
			all.filter((field) => field.name === name),
		);
	});
	const isApart = ([{ name }]: INodeProperties[]) => NOT_REQUESTED.has(name);
	const requested = options.filter((fields) => !isApart(fields));
	const row = (option: string, fallback: string, text = ''): Row => ({
		'in **Options**: what is created': option,
		default: fallback,
		'': text,
	});
	const rowOf = (fields: INodeProperties[]) =>
		row(
			fields[0].displayName,
			defaultOf(fields),
			`${fields[0].description ?? fields[0].hint ?? ''}${choicesOf(fields[0])}`,
		);
	return [
		...options.filter(isApart).map(rowOf),
		row(
			requested.map(([{ displayName }]) => displayName).join(', '),
			'not sent',
			'Sent to the model',
		),
		row('**in Run Options: how the step runs**', ''),
		...runOptions.map(rowOf),
	];
}

/** @param file the built file that package.json names */
function nodeIn(file: string): INodeType['description'] {
	const source = join(__dirname, '..', file.replace(/^dist/, '').replace(/js$/, 'ts'));
	// eslint-disable-next-line @typescript-eslint/no-require-imports
	const [Node] = Object.values(require(source) as Record<string, new () => INodeType>);
	return new Node().description;
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
		const isNothing = value === '' || (Array.isArray(value) && value.length === 0);
		return isNothing ? '' : String(value);
	});
	return DEFAULTS[field.name] ?? [...new Set(own)].join(' / ');
}

/** The errors of the service, with the advice that the nodes give. Codes with the same text share a row. */
function errorRows(): Row[] {
	const codes = Object.keys(BY_CODE);
	return [...new Set(Object.values(BY_CODE))].map((row) => {
		const same = codes.filter((code) => BY_CODE[code] === row).map((code) => `\`${code}\``);
		return { code: same.join(', '), title: row.title, 'what to do': row.advice };
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
	const parts = 'the nodes, the credential, the main example, files, retries and stopping';
	return [
		{ n8n: versionIn('current'), tested: 'everything' },
		{ n8n: versions.join(', '), tested: parts },
	];
}

if (require.main === module) writeSections('code', codeSections());
