import { modelField } from '../shared/form/fields';
import type { Field } from '../shared/form/form';

export const modelsFields: Field[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'Get',
				value: 'get',
				action: 'Get a model',
				description: 'Look up one model by its ID',
			},
			{
				name: 'Get Many',
				value: 'getAll',
				action: 'Get many models',
				description: 'List the models of the live catalog',
			},
		],
		default: 'getAll',
	},
	{
		...modelField('searchModels', 'aurora-image-1'),
		displayOptions: { show: { operation: ['get'] } },
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'options',
		options: [
			{ name: 'All', value: 'all' },
			{ name: 'Image', value: 'image' },
			{ name: 'Video', value: 'video' },
		],
		default: 'all',
		description: 'Which models to list',
		displayOptions: { show: { operation: ['getAll'] } },
	},
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
		displayOptions: { show: { operation: ['getAll'] } },
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show: { operation: ['getAll'], returnAll: [false] } },
	},
];
