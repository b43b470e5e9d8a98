import type {
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { Model, ModelFilter } from '../../../client/api/client';
import { toResult } from '../../../client/async';
import { errorOfJob } from '../../../client/jobs/outcome';
import { sentences } from '../../../client/text';
import { nodeError } from '../output/node-error';
import { serviceOf } from '../http/transport';
import { callerIn } from '../step';

/** Builds the function that loads all models of a type from the live catalog, as the choices of a field (spec 4.4). */
export function modelOptions(type: ModelFilter) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		return (await catalogModels(this, type)).map(asChoice);
	};
}

/** Builds the function that searches the live catalog for models of this type, for a model picker (spec 4.4). */
export function modelSearch(type: ModelFilter) {
	return async function (this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
		const models = await catalogModels(this, type);
		return { results: models.filter((model) => matchesModel(model, filter)).map(asChoice) };
	};
}

function asChoice(model: Model) {
	return { ...describeModel(model), name: nameWithFacts(model), value: model.id };
}

/** @throws NodeApiError if the catalog cannot be read */
async function catalogModels(context: ILoadOptionsFunctions, type: ModelFilter): Promise<Model[]> {
	const caller = callerIn(context);
	// No retries, because a user is waiting for the list, and can open it again.
	const listed = await toResult(
		async () => await serviceOf(caller, { maxRetries: 0 }).models(type),
	);
	if (listed.ok) return listed.value;
	throw nodeError(caller, errorOfJob(listed.error, null), 0);
}

/** Returns the name of a model, and one text with its provider, resolution, speed and description. */
export function describeModel(model: Model): { name: string; description: string } {
	const facts = [
		textOf(model.provider),
		model.max_resolution && `up to ${model.max_resolution}`,
		speedOf(model),
	].filter(Boolean);
	return {
		name: textOf(model.name) || model.id,
		description: sentences(facts.join(', '), textOf(model.description)),
	};
}

/** Returns the name of a model with its speed and largest size, because n8n's model picker shows no descriptions. */
export function nameWithFacts(model: Model): string {
	const facts = [describeModel(model).name, speedOf(model), model.max_resolution];
	return facts.filter(Boolean).join(' · ');
}

/** Returns an empty text if a value is not a text: one malformed catalog entry must not make the whole list fail. */
function textOf(value: unknown): string {
	return typeof value === 'string' ? value.trim() : '';
}

function speedOf({ avg_speed_seconds: seconds }: Model): string {
	return typeof seconds === 'number' ? `takes about ${Math.round(seconds * 10) / 10} s` : '';
}

/** True if every word of the search appears in the id, the label or the description of the model. */
export function matchesModel(model: Model, search: string): boolean {
	const { name, description } = describeModel(model);
	const known = [model.id, name, description].join(' ').toLowerCase();
	const words = search.toLowerCase().split(/\s+/);
	return words.every((word) => known.includes(word));
}
