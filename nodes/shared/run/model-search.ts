import type {
	ILoadOptionsFunctions,
	INodeListSearchResult,
	INodePropertyOptions,
} from 'n8n-workflow';

import type { Model, ModelFilter } from '../../../client/api/client';
import { GenerationError } from '../../../client/api/errors';
import { raceAbort, toResult } from '../../../client/async';
import { sentences } from '../../../client/text';
import { nodeError } from '../output/node-error';
import { noResponse, serviceOf, USER_WAITS_MS } from '../http/transport';
import { callerIn } from '../step';

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
export function modelSearch(type: ModelFilter) {
	return async function (this: ILoadOptionsFunctions, filter = ''): Promise<INodeListSearchResult> {
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
	const signal = AbortSignal.timeout(USER_WAITS_MS);
	const service = serviceOf(caller, { signal, maxRetries: 1 });
	const listed = await toResult(async () => await raceAbort(signal, service.models(type)));
	if (listed.ok) return listed.value;
	throw nodeError(caller, listed.error instanceof GenerationError ? listed.error : noResponse(), 0);
}

/** Returns the name of a model, and its provider, resolution, speed and description as a text. */
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

/** n8n's model picker cuts off a longer name, in the middle of a word. */
const LONGEST_NAME = 56;

/**
 * Returns the name of a model with its speed, its largest size, and what it is good at, because n8n's model picker shows
 * no descriptions. Ends with a whole word.
 */
export function nameWithFacts(model: Model): string {
	const facts = [
		describeModel(model).name,
		speedOf(model),
		model.max_resolution,
		textOf(model.description).replace(/\.$/, ''),
	].filter(Boolean);
	const whole = facts.join(' · ');
	return whole.length > LONGEST_NAME ? `${wordsWithin(whole, LONGEST_NAME)}…` : whole;
}

/** The words of a text that fit into so many characters. A longer word is cut. */
function wordsWithin(text: string, most: number): string {
	const [words] = /^.*(?=[\s·])/s.exec(text.slice(0, most + 1)) ?? [];
	return (words?.trim() || text.slice(0, most)).replace(/[\s·,;.]+$/, '');
}

/** One entry that is not as specified must not empty the whole list. */
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
