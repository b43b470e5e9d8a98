import { GenerationError } from './errors';
import { errorRow } from './error-table';

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

/** Returns the label of a model in a list: its name, provider, resolution and speed. */
export function describeModel(model: Model): { name: string; description: string } {
	const facts = [
		model.provider,
		model.max_resolution && `up to ${model.max_resolution}`,
		typeof model.avg_speed_seconds === 'number' && `about ${model.avg_speed_seconds} s`,
	].filter(Boolean);
	return {
		name: [model.name ?? model.id, ...facts].join(' · '),
		description: model.description ?? '',
	};
}

/** True if every word of the search appears in the id, the label or the description of the model. */
export function matchesModel(model: Model, search: string): boolean {
	const { name, description } = describeModel(model);
	const known = [model.id, name, description].join(' ').toLowerCase();
	return search
		.toLowerCase()
		.split(/\s+/)
		.every((word) => known.includes(word));
}

/** @throws GenerationError, always, with the code of the service for an unknown model */
export function modelNotFound(id: string, models: Model[]): never {
	const { title, advice } = errorRow('model_not_found', 404);
	throw new GenerationError({
		title: `${title}: ${id}`,
		description: `The catalogue has ${models.length} models, and none with this ID. ${advice}`,
		code: 'model_not_found',
		status: 404,
	});
}
