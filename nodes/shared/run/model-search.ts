import type {
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { Model, ModelFilter } from '../../../client/api/client';
import { GenerationError } from '../../../client/api/errors';
import { toResult } from '../../../client/async';
import { sentences, truncate } from '../../../client/text';
import { nodeError } from '../output/node-error';
import { serviceOf } from '../http/transport';
import { callerIn } from '../step';

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
				.map((model) => ({ ...describeModel(model), name: nameWithFacts(model), value: model.id })),
		};
	};
}

/** @throws NodeApiError if the catalog cannot be read */
async function catalogModels(context: ILoadOptionsFunctions, type: ModelFilter): Promise<Model[]> {
	// A user is waiting for the list, and can open it again.
	const caller = callerIn(context);
	const service = serviceOf(caller, { maxRetries: 1 });
	const listed = await toResult(async () => await service.models(type));
	if (!listed.ok) {
		throw listed.error instanceof GenerationError
			? nodeError(caller, listed.error, 0)
			: listed.error;
	}
	return listed.value;
}

/** Returns the name of a model, and its provider, resolution, speed and description as a text. */
export function describeModel(model: Model): { name: string; description: string } {
	const facts = [
		model.provider,
		model.max_resolution && `up to ${model.max_resolution}`,
		hasSpeed(model) && `about ${model.avg_speed_seconds} s`,
	].filter(Boolean);
	return {
		name: textOf(model.name) || model.id,
		description: sentences(facts.join(', '), textOf(model.description)),
	};
}

/** A longer name would not fit into n8n's model picker. */
const LONGEST_NAME = 90;

/**
 * Returns the name of a model with its speed, its largest size, and what it is good at. n8n's model picker shows no
 * descriptions, and cuts off the end of a long name.
 */
export function nameWithFacts(model: Model): string {
	const facts = [
		describeModel(model).name,
		hasSpeed(model) && `${model.avg_speed_seconds} s`,
		model.max_resolution,
		textOf(model.description).replace(/\.$/, ''),
	].filter(Boolean);
	return truncate(facts.join(' · '), LONGEST_NAME);
}

/** One entry that is not as specified must not empty the whole list. */
function textOf(value: unknown): string {
	return typeof value === 'string' ? value.trim() : '';
}

function hasSpeed({ avg_speed_seconds: seconds }: Model): boolean {
	return typeof seconds === 'number';
}

/** True if every word of the search appears in the id, the label or the description of the model. */
export function matchesModel(model: Model, search: string): boolean {
	const { name, description } = describeModel(model);
	const known = [model.id, name, description].join(' ').toLowerCase();
	const words = search.toLowerCase().split(/\s+/);
	return words.every((word) => known.includes(word));
}
