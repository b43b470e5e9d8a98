import { imageModels } from './image-models';
import type { MediaType, Model, Resolution, VideoModel } from './model';
import { videoModels } from './video-models';

/** A model in the format of `GET /v1/models` (spec 2.2). */
interface ModelEntry {
	id: string;
	object: 'model';
	type: MediaType;
	name: string;
	provider: string;
	description: string;
	max_resolution: string;
	avg_speed_seconds: number;
}

/** Width and height of each resolution in 16:9. 480p is 854 wide because H.264 needs even numbers. */
export const frameSizes: Readonly<Record<Resolution, readonly [number, number]>> = {
	'480p': [854, 480],
	'720p': [1280, 720],
	'1080p': [1920, 1080],
};

const priceFactors: Readonly<Record<Resolution, number>> = { '480p': 0.5, '720p': 1, '1080p': 2 };

/** All sixteen models, images first. */
const models: readonly Model[] = [...imageModels, ...videoModels];

const byId = new Map(models.map((model) => [model.id, model]));

/** Returns the model with that id, or undefined. */
export function findModel(id: string): Model | undefined {
	return byId.get(id);
}

function entryOf(model: Model): ModelEntry {
	const [width, height] =
		model.type === 'image'
			? model.maxResolution
			: frameSizes[model.resolutions[model.resolutions.length - 1]];
	return {
		id: model.id,
		object: 'model',
		type: model.type,
		name: model.name,
		provider: model.provider,
		description: model.description,
		max_resolution: `${width}x${height}`,
		avg_speed_seconds: model.averageSeconds,
	};
}

/** Returns the models of one type, or all (spec 4.4). The time scale is applied to the averages. */
export function listModels(type: MediaType | 'all', timeScale = 1): ModelEntry[] {
	return models
		.filter((model) => type === 'all' || model.type === type)
		.map(entryOf)
		.map((entry) => ({ ...entry, avg_speed_seconds: entry.avg_speed_seconds / timeScale }));
}

/** Returns the price of a video in whole credits, rounded up, and at least 1. */
export function videoPrice(model: VideoModel, resolution: Resolution, seconds: number): number {
	const price = model.creditsPerSecond * priceFactors[resolution] * seconds;
	// 25 * 4.4 is slightly above 110.
	return Math.max(1, Math.ceil(Math.round(price * 1e6) / 1e6));
}
