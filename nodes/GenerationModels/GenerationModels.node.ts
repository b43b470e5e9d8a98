import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { modelNotFound, type Model, type ModelFilter } from '../../client/wire/catalogue';
import { oneOf, positive } from '../../client/input/checks';
import type { GenerationService } from '../../client/wire/service';
import { sharedDescription } from '../shared/description';
import { modelField } from '../shared/fields';
import { runLookups } from '../shared/lookup';
import { modelSearch } from '../shared/model-search';
import { modelId } from '../shared/parameters';

export class GenerationModels implements INodeType {
	description: INodeTypeDescription = {
		...sharedDescription,
		displayName: 'Generation Models',
		name: 'generationModels',
		icon: {
			light: 'file:../../icons/generationModels.svg',
			dark: 'file:../../icons/generationModels.dark.svg',
		},
		group: ['input'],
		subtitle: '={{$parameter["operation"] === "get" ? "get a model" : "get many models"}}',
		description:
			'List the available image and video models, or look one up by its ID. Charges nothing.',
		defaults: { name: 'Generation Models' },
		usableAsTool: true,
		properties: [
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
						description: 'List the models of the live catalogue',
					},
				],
				default: 'getAll',
			},
			{ ...modelField('searchModels'), displayOptions: { show: { operation: ['get'] } } },
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
				typeOptions: { minValue: 1 },
				default: 50,
				description: 'Max number of results to return',
				displayOptions: { show: { operation: ['getAll'], returnAll: [false] } },
			},
		],
	};

	methods = { listSearch: { searchModels: modelSearch('all') } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runLookups(this, async (service, itemIndex) => {
			const operation = this.getNodeParameter('operation', itemIndex, 'getAll');
			return oneOf('Operation', operation, ['get', 'getAll'] as const) === 'get'
				? [await findModel(service, modelId(this, 'modelId', itemIndex))]
				: await listModels(this, service, itemIndex);
		});
	}
}

async function listModels(
	context: IExecuteFunctions,
	service: GenerationService,
	itemIndex: number,
): Promise<Model[]> {
	const types: ModelFilter[] = ['all', 'image', 'video'];
	const type = oneOf('Type', context.getNodeParameter('type', itemIndex, 'all'), types);
	const returnAll = context.getNodeParameter('returnAll', itemIndex, false) === true;
	const limit = returnAll
		? Infinity
		: positive('Limit', context.getNodeParameter('limit', itemIndex, 50), 1);
	return (await service.models(type)).slice(0, limit);
}

/** The service has no endpoint for one model, so it is looked up in the catalogue (spec 4.4). */
async function findModel(service: GenerationService, id: string): Promise<Model> {
	const models = await service.models();
	return models.find((model) => model.id === id) ?? modelNotFound(id, models);
}
