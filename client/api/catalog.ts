import { sentences } from '../text';
import { errorFromResponse } from './errors';

/** One entry of the live catalog (spec 2.2), returned unchanged. */
export interface Model {
	id: string;
	type?: string;
	name?: string;
	provider?: string;
	description?: string;
	/** `<width>x<height>` */
	max_resolution?: string;
	/** Average generation time in seconds. */
	avg_speed_seconds?: number;
	[key: string]: unknown;
}

/** True if an entry has an id. Other entries cannot be used. */
export function isModel(entry: unknown): entry is Model {
	return typeof (entry as Partial<Model> | null)?.id === 'string';
}

/** The models to list (spec 4.4). */
export type ModelFilter = 'all' | 'image' | 'video';

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
		name: model.name ?? model.id,
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

/** @throws GenerationError, always, as the service would for an unknown model */
export function modelNotFound(id: string, models: Model[]): never {
	const response = { status: 404, body: { error: { code: 'model_not_found' } } };
	throw errorFromResponse(response, false, id).with({
		details: `None of the ${models.length} models in the catalog has this ID`,
	});
}
