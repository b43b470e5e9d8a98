import { collectionField } from '../shared/form/fields';
import type { Field } from '../shared/form/form';

export const creditsFields: Field[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Get Balance',
				value: 'getBalance',
				action: 'Get the balance',
				description: 'Read the number of credits left',
			},
			{
				name: 'Get Summary',
				value: 'getSummary',
				action: 'Get the summary',
				description: 'Read the spending of the last 30 days, by media type and model',
			},
		],
		default: 'getBalance',
	},
	collectionField('options', 'Option', [
		{
			displayName: 'Minimum Balance',
			name: 'minimumBalance',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			placeholder: 'e.g. 100',
			limits: true,
			description: 'Fail if fewer credits are left, so that a batch stops before it spends',
		},
	]),
];
