import type { INodeProperties, INodeType } from 'n8n-workflow';

import manifest from '../../package.json';
import { ownNodes } from '../../tools/own-nodes';

/** Returns the values of a field with choices, and the fields of a field that has some. */
function parts({ options = [] }: INodeProperties) {
	return {
		values: options.flatMap((option) => ('value' in option ? [option.value] : [])).sort(),
		fields: options.flatMap((option) =>
			'values' in option
				? option.values
				: 'displayName' in option && 'type' in option
					? option
					: [],
		),
	};
}

/** Returns a line for each field: its path, type and default, and its choices. Notices have no value. */
function linesOf(properties: INodeProperties[], path = ''): string[] {
	return properties
		.filter(({ type }) => type !== 'notice')
		.flatMap((field) => {
			const { values, fields } = parts(field);
			const name = `${path}${field.name}`;
			const choices = values.length > 0 ? `, one of ${JSON.stringify(values)}` : '';
			return [
				`${name}: ${field.type} = ${JSON.stringify(field.default)}${choices}`,
				...linesOf(fields, `${name}.`),
			];
		});
}

function contractOf({ description }: INodeType): string {
	const { name, displayName, version, inputs, outputs, credentials, properties } = description;
	return [
		`${name} ${String(version)}, ${displayName}`,
		`inputs ${String(inputs)}, outputs ${String(outputs)}, credentials ${JSON.stringify(credentials)}`,
		...linesOf(properties).sort(),
	].join('\n');
}

it('the package has the format that n8n requires, and no dependencies of its own', () => {
	expect(manifest).toMatchObject({
		name: 'n8n-nodes-media-generation',
		license: 'MIT',
		files: ['dist'],
		peerDependencies: { 'n8n-workflow': '*' },
		n8n: {
			n8nNodesApiVersion: 1,
			strict: true,
			credentials: ['dist/credentials/MediaGenerationApi.credentials.js'],
		},
	});
	expect(manifest).not.toHaveProperty('dependencies');
});

it('the package has the nodes that saved workflows contain', () => {
	expect(ownNodes.map(({ description }) => description.name).sort()).toMatchSnapshot();
});

describe.each(ownNodes.map((node) => [node.description.name, node] as const))('%s', (_, node) => {
	// If this fails, a change breaks saved workflows, unless it only adds something: then update the snapshot.
	it('has the names, types, defaults and choices that saved workflows contain', () => {
		expect(contractOf(node)).toMatchSnapshot();
	});

	it('has one input, one output and the credential, and is usable as a tool', () => {
		expect(node.description).toMatchObject({
			inputs: ['main'],
			outputs: ['main'],
			usableAsTool: { replacements: { description: expect.any(String) as string } },
			credentials: [{ name: 'mediaGenerationApi', required: true }],
		});
	});
});
