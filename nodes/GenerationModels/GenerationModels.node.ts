import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { modelNotFound, type Model, type ModelFilter } from '../../client/api/client';
import { sharedDescription } from '../shared/form/description';
import { entriesOf, formOf, readForm } from '../shared/form/form';
import { runLookups, type Lookups } from '../shared/run/lookup';
import { modelSearch } from '../shared/run/model-search';
import { stepIn } from '../shared/step';
import { modelsFields } from './fields';

const entries = entriesOf(modelsFields);

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
		usableAsTool: {
			replacements: {
				description:
					'List the available image and video models, or look one up by its ID. At no charge.',
			},
		},
		properties: formOf(modelsFields),
	};

	methods = { listSearch: { searchModels: modelSearch('all') } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const step = stepIn(this);
		return await runLookups(step, async (lookups, itemIndex) => {
			const { operation, modelId, type, returnAll, limit } = readForm(step, itemIndex, entries);
			if (operation === 'get') return [await findModel(lookups, String(modelId))];
			const models = await lookups.models((type ?? 'all') as ModelFilter);
			return returnAll ? models : models.slice(0, Number(limit ?? 50));
		});
	}
}

/** Finds a model in the catalog. The service has no endpoint for a single model (spec 4.4). */
async function findModel(lookups: Lookups, id: string): Promise<Model> {
	const models = await lookups.models('all');
	return models.find((model) => model.id === id) ?? modelNotFound(id, models);
}
