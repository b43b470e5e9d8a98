import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { modelNotFound, type Model, type ModelFilter } from '../../client/api/client';
import { integer, oneOf, positive, requiredText } from '../shared/form/checks';
import { asTool, sharedDescription } from '../shared/form/description';
import { readForm, type Form } from '../shared/form/form';
import { runLookups, type Lookups } from '../shared/run/lookup';
import { modelSearch } from '../shared/run/model-search';
import { stepIn } from '../shared/step';
import { modelsFields } from './fields';

/** The Generation Models node: lists models, or returns one (spec 4.4). */
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
		subtitle: '={{ $parameter["operation"] === "get" ? "Get" : "Get Many" }}',
		description: 'List the available image and video models, or look one up',
		defaults: { name: 'Generation Models' },
		usableAsTool: asTool(
			'List the available image and video models, or look one up by its ID. At no charge.',
		),
		properties: modelsFields,
	};

	methods = { listSearch: { searchModels: modelSearch('all') } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const step = stepIn(this);
		return await runLookups(step, async (lookups, itemIndex) => {
			const form = readForm(step, itemIndex, modelsFields);
			const operation = oneOf('Operation', form.operation ?? 'getAll', ['get', 'getAll'] as const);
			return operation === 'get'
				? [await findModel(lookups, requiredText('Model', form.modelId))]
				: await allModels(lookups, form);
		});
	}
}

async function allModels(lookups: Lookups, form: Form): Promise<Model[]> {
	const types: ModelFilter[] = ['all', 'image', 'video'];
	const type = oneOf('Type', form.type ?? 'all', types);
	const returnAll = oneOf('Return All', form.returnAll ?? false, [true, false]);
	const limit = returnAll ? Infinity : positive('Limit', integer('Limit', form.limit ?? 50), 1);
	return (await lookups.models(type)).slice(0, limit);
}

/** Finds a model in the catalog. The service has no endpoint for a single model (spec 4.4). */
async function findModel(lookups: Lookups, id: string): Promise<Model> {
	const models = await lookups.models('all');
	return models.find((model) => model.id === id) ?? modelNotFound(id, models);
}
