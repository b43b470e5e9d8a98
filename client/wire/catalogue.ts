import { GenerationError } from './errors';
import { errorRow } from './error-table';

/** One entry of the live catalogue (spec 2.2); handed on as it came. */
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

/** Whether an entry can be used at all. */
export function isModel(entry: unknown): entry is Model {
	return typeof (entry as Partial<Model> | null)?.id === 'string';
}

/** Which models are to be listed (spec 4.4). */
export type ModelFilter = 'all' | 'image' | 'video';

/** How a model is offered in a list: its name, and what tells it from the others. */
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

/** Whether every word of a search appears somewhere in what is known of the model. */
export function matchesModel(model: Model, search: string): boolean {
	const { name, description } = describeModel(model);
	const known = [model.id, name, description].join(' ').toLowerCase();
	return search
		.toLowerCase()
		.split(/\s+/)
		.every((word) => known.includes(word));
}

/** @throws GenerationError of the form in which the service refuses an unknown model */
export function modelNotFound(id: string, models: Model[]): never {
	const { title, advice } = errorRow('model_not_found', 404);
	throw new GenerationError({
		title: `${title}: ${id}`,
		description: `The catalogue has ${models.length} models, and none with this ID. ${advice}`,
		code: 'model_not_found',
		status: 404,
	});
}
