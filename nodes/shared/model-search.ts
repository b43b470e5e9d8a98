import type {
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { Model, ModelFilter } from '../../client/api/client';
import { GenerationError } from '../../client/api/errors';
import { toResult } from '../../client/async';
import { sentences } from '../../client/text';
import { nodeError } from './output/node-error';
import { serviceOf } from './http/transport';

type ListSearch = (this: ILoadOptionsFunctions, filter?: string) => Promise<INodeListSearchResult>;

/**
 * The choices of a field for several models, from the live catalog (spec 4.4).
 *
 * @param type which models to list
 */
export function modelOptions(type: ModelFilter) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		const models = await catalogModels(this, type);
		return models.map((model) => ({ ...describeModel(model), value: model.id }));
	};
}

/**
 * The list search of a model picker, from the live catalog (spec 4.4).
 *
 * @param type which models to list
 */
export function modelSearch(type: ModelFilter): ListSearch {
	return async function (filter = '') {
		const models = await catalogModels(this, type);
		return {
			results: models
				.filter((model) => matchesModel(model, filter))
				.map((model) => ({ ...describeModel(model), value: model.id })),
		};
	};
}

/** @throws NodeApiError if the catalog cannot be read */
async function catalogModels(context: ILoadOptionsFunctions, type: ModelFilter): Promise<Model[]> {
	// A user is waiting for the list, and can open it again.
	const service = serviceOf(context, { maxRetries: 1 });
	const listed = await toResult(async () => await service.models(type));
	if (!listed.ok) {
		throw listed.error instanceof GenerationError
			? nodeError(context, listed.error, 0)
			: listed.error;
	}
	return listed.value;
}

/**
 * Returns the short name of a model, and its provider, resolution and speed as its description. n8n shows the name in the
 * model picker, and cuts off a long one.
 */
export function describeModel(model: Model): { name: string; description: string } {
	const facts = [
		model.provider,
		model.max_resolution && `up to ${model.max_resolution}`,
		typeof model.avg_speed_seconds === 'number' && `about ${model.avg_speed_seconds} s`,
	].filter(Boolean);
	return {
		name: model.name?.trim() || model.id,
		description: sentences(facts.join(', '), model.description),
	};
}

/** True if every word of the search appears in the id, the label or the description of the model. */
export function matchesModel(model: Model, search: string): boolean {
	const { name, description } = describeModel(model);
	const known = [model.id, name, description].join(' ').toLowerCase();
	const words = search.toLowerCase().split(/\s+/);
	return words.every((word) => known.includes(word));
}
