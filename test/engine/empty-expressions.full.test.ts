import type {
	IDataObject,
	INodeParameters,
	INodeProperties,
	INodePropertyCollection,
	INodeType,
	NodeParameterValueType,
} from 'n8n-workflow';

import { ownNodes } from '../../tools/own-nodes';
import type { NodeName } from '../support/workflow';
import { openStage } from './stage';

/** A field that accepts expressions, as read from the nodes' own descriptions. */
interface Field {
	node: NodeName;
	label: string;
	type: INodeProperties['type'];
	required: boolean;
	/** Returns parameters with this value in the field, and with all values that the field needs to be shown. */
	withValue: (value: string) => INodeParameters;
}

function fieldsOf({ description }: INodeType): Field[] {
	const node = description.name as NodeName;
	return description.properties.flatMap((property) => {
		const { name } = property;
		// Only n8n reads the one, and only helper workflows have the other.
		if (name === 'toolDescription' || name === 'batchRole') return [];
		const beside = shownWith(property);
		const at = (field: INodeProperties, inside: (value: unknown) => unknown): Field => ({
			node,
			label: field.displayName,
			type: field.type,
			required: field.required === true,
			withValue: (value) => ({
				...beside,
				[name]: inside(inField(field, value)) as NodeParameterValueType,
			}),
		});
		switch (property.type) {
			case 'notice':
				return [];
			case 'collection':
				return (property.options as INodeProperties[]).map((option) =>
					at(option, (value) => ({ [option.name]: value })),
				);
			case 'fixedCollection':
				return (property.options as INodePropertyCollection[]).flatMap((list) =>
					list.values.map((entry) =>
						// An entry without its URL, file or data is not a reference.
						at({ ...entry, required: 'displayOptions' in entry }, (value) => ({
							[list.name]: [
								{ url: 'https://example.com/a.png', ...shownWith(entry), [entry.name]: value },
							],
						})),
					),
				);
			default:
				return property.noDataExpression ? [] : [at(property, (value) => value)];
		}
	});
}

/** Returns the first value that shows the field, for each field that it depends on. */
function shownWith({ displayOptions }: INodeProperties): INodeParameters {
	const shown = Object.entries(displayOptions?.show ?? {});
	return Object.fromEntries(shown.map(([name, values]) => [name, values?.[0]])) as INodeParameters;
}

function inField({ type }: INodeProperties, value: string): NodeParameterValueType {
	return type === 'resourceLocator' ? { __rl: true, mode: 'id', value } : value;
}

const fields = ownNodes.flatMap(fieldsOf);
const item: IDataObject = {
	id: 'unknown',
	prompt: 'A boat',
	thing: { text: 'A boat', value: 7 },
};

const stage = openStage();

describe.each(fields)(
	'an expression in $label of $node',
	({ node, label, type, required, withValue }) => {
		const run = async (value: string) => {
			const quick = { prompt: 'A boat', waitForCompletion: false };
			const parameters = { ...(node === 'waitForCompletion' ? {} : quick), ...withValue(value) };
			const { error } = await stage.run(node, parameters, { items: [item] });
			return error as { message: string; context: { code: string; itemIndex: number } } | undefined;
		};
		const expectRefused = async (value: string, says: string) => {
			expect(await run(value)).toMatchObject({
				message: expect.stringContaining(says),
				context: { code: 'invalid_input', itemIndex: 0 },
			});
			expect(stage.arrived).toBe(0);
		};

		it('that is undefined is an error of the item, and nothing is sent', async () => {
			const undefinedIn = `${label} is undefined for this item`;
			await expectRefused('={{ $json.mistyped }}', undefinedIn);
			await expectRefused('={{ $json.mistyped.deeper }}', undefinedIn);
		});

		it('that has an undefined part is an error of the item, and nothing is sent', async () => {
			const withoutValue = `${label} has no value for this item: {{ $json.mistyped`;
			await expectRefused('=A picture of {{ $json.mistyped }}', withoutValue);
			await expectRefused('={{ $json.mistyped }}\n', withoutValue);
			await expectRefused('={{ $json.prompt }} {{ Number($json.mistyped) }}', 'has no value');
		});

		it('that returns an object is an error of the item, and nothing is sent', async () => {
			const notText = `${label} must be a single value, such as text, but the expression returned`;
			if (type !== 'json') await expectRefused('={{ $json.thing }}', notText);
			await expectRefused('=A picture of {{ $json.thing }}', notText);
		});

		it('that n8n cannot evaluate is an error of the item, and nothing is sent', async () => {
			const error = await run('={{ $("Never Run").item.json.text }}');
			expect(error).toMatchObject({
				message: expect.stringMatching(/^.+ could not be evaluated: Referenced node/) as string,
				context: { code: 'invalid_input', itemIndex: 0 },
			});
			const [field] = error?.message.split(' could not') ?? [];
			expect(field.replace('Reference File 1: ', '')).toBe(label);
			expect(stage.arrived).toBe(0);
		});

		it.each(['={{ null }}', '={{ "" }}'])(
			'that returns an empty value counts as an empty field: %s',
			async (empty) => {
				const limits = [
					'Minimum Balance',
					'Stop Below Balance',
					'Limit New Generations',
					'Spend at Most (Credits)',
				];
				if (required) expect((await run(empty))?.message).toMatch(/ is empty$/);
				else if (limits.includes(label)) {
					expect((await run(empty))?.message).toBe(
						`${label} is empty for this item, so nothing would limit what is spent`,
					);
				} else {
					const error = await run(empty);
					expect(error?.context.code).not.toBe('invalid_input');
				}
			},
		);
	},
);

describe('a part of a text', () => {
	it.each([null, ''])('may be empty on purpose: %j', async (style) => {
		const parameters = { prompt: '={{ $json.prompt }} {{ $json.style }}{{ $json.more ?? "" }}' };
		const items = [{ prompt: 'a boat', style }];
		expect((await stage.run('imageGeneration', parameters, { items })).status).toBe('success');
		expect(stage.bodies[0].prompt).toBe('a boat');
	});
});
