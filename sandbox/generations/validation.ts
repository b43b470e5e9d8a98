import { frameSizes, findModel, videoPrice } from '../models/catalogue';
import { frameRates } from '../models/model';
import type { Fps, ImageModel, MediaType, Model, Resolution, VideoModel } from '../models/model';
import { ServiceError } from '../basics/errors';
import {
	assertUrl,
	badValue,
	isAbsent,
	isObject,
	optionalInteger,
	optionalNumber,
	optionalText,
	requiredText,
	urlList,
} from '../basics/fields';
import type { Fields } from '../basics/fields';
import { imageSize } from '../models/image-size';
import { readInputs } from './inputs';

/** A valid request and its price in credits. */
export interface ValidRequest {
	model: Model;
	prompt: string;
	/** The requested seed, or null if the service chooses one. */
	seed: number | null;
	width: number;
	height: number;
	/** Videos only: duration in seconds, and frames per second. */
	duration: number;
	fps: Fps;
	credits: number;
	/** The fields that have no effect. */
	ignored: readonly string[];
}

const knownFields: Readonly<Record<MediaType, readonly string[]>> = {
	image: ['model', 'prompt', 'size', 'parameters', 'inputs', 'input_images', 'edit_mode'],
	video: [
		...['model', 'prompt', 'resolution', 'duration', 'fps', 'image_url', 'negative_prompt'],
		...['seed', 'input_images'],
	],
};

/** Returns the fields that are accepted without an effect: `webhook_url` (spec 4.1), unknown ones, and what an image model ignores. */
function ignoredIn(fields: Fields, model: Model): string[] {
	const named = (object: Fields, known: readonly string[], prefix = ''): string[] =>
		Object.keys(object)
			.filter((name) => !isAbsent(object[name]) && !known.includes(name))
			.map((name) => prefix + name);
	const top = named(fields, knownFields[model.type]);
	if (model.type === 'video' || !isObject(fields.parameters)) return top;
	const inside = [
		'aspect_ratio',
		...(model.seed ? ['seed'] : []),
		...(model.negativePrompt ? ['negative_prompt'] : []),
	];
	return [...top, ...named(fields.parameters, inside, 'parameters.')];
}

type Specifics = Omit<ValidRequest, 'model' | 'prompt' | 'ignored'>;

function unsupported(model: Model, param: string): ServiceError {
	return new ServiceError(
		'unsupported_parameter',
		`${param} is not supported by model ${model.id}.`,
		param,
	);
}

function modelOf(fields: Fields, type: MediaType): Model {
	const id = requiredText(fields, 'model');
	const model = findModel(id);
	if (!model) throw new ServiceError('model_not_found', `Model not found: ${id}.`, 'model');
	if (model.type !== type) {
		throw badValue('model', `${id} is a model for ${model.type}s, not for ${type}s.`);
	}
	return model;
}

function assertReferences(model: Model, count: number, param: string): void {
	if (count === 0) return;
	if (model.maxReferences === 0) throw unsupported(model, param);
	if (count > model.maxReferences) {
		throw badValue(param, `${model.id} takes at most ${model.maxReferences} reference inputs.`);
	}
}

/** Validates an image request (spec 4.1). Ignores a seed or negative prompt that the model does not support. */
function validateImage(fields: Fields, model: ImageModel): Specifics {
	const parameters = fields.parameters ?? {};
	if (!isObject(parameters)) {
		throw new ServiceError('invalid_request', 'parameters must be an object.', 'parameters');
	}
	if (!isAbsent(fields.size) && !model.sizeChoice) throw unsupported(model, 'size');
	const ratio = optionalText(parameters, 'aspect_ratio', 'parameters.aspect_ratio');
	const [width, height] = imageSize(model, optionalText(fields, 'size'), ratio);
	optionalText(parameters, 'negative_prompt', 'parameters.negative_prompt');
	const seed = optionalInteger(parameters, 'seed', 'parameters.seed');
	if (optionalText(fields, 'edit_mode') && !model.edit) throw unsupported(model, 'edit_mode');
	const inputs = readInputs(fields.inputs);
	const legacy = urlList(fields, 'input_images', 'https');
	assertReferences(model, inputs.length, 'inputs');
	assertReferences(model, inputs.length + legacy.length, 'input_images');
	return {
		seed: model.seed ? seed : null,
		width,
		height,
		duration: 0,
		fps: 24,
		credits: model.credits,
	};
}

function resolutionOf(fields: Fields, model: VideoModel): Resolution {
	const asked = optionalText(fields, 'resolution') ?? '720p';
	const found = model.resolutions.find((resolution) => resolution === asked);
	if (!found) {
		const allowed = model.resolutions.join(', ');
		throw badValue('resolution', `${model.id} makes ${allowed}, not ${asked}.`);
	}
	return found;
}

function durationOf(fields: Fields, model: VideoModel): number {
	const duration = optionalNumber(fields, 'duration') ?? 4;
	if (duration <= 0 || duration > model.maxDuration) {
		throw badValue(
			'duration',
			`duration must be above 0 and at most ${model.maxDuration} seconds for ${model.id}.`,
		);
	}
	return duration;
}

/** Returns the frame rate (spec 4.2). Unlike resolution and duration, the allowed values do not depend on the model. */
function fpsOf(fields: Fields): Fps {
	const asked = optionalInteger(fields, 'fps') ?? 24;
	const found = frameRates.find((fps) => fps === asked);
	if (!found) throw badValue('fps', `fps must be one of ${frameRates.join(', ')}.`);
	return found;
}

/** Rejects fields that the model does not support (spec 4.2, 422). An empty negative prompt is always accepted. */
function assertSupported(fields: Fields, model: VideoModel): void {
	if (!isAbsent(fields.resolution) && !model.resolutionChoice)
		throw unsupported(model, 'resolution');
	if (!isAbsent(fields.fps) && !model.fpsChoice) throw unsupported(model, 'fps');
	if (!isAbsent(fields.seed) && !model.seed) throw unsupported(model, 'seed');
	if (optionalText(fields, 'negative_prompt') && !model.negativePrompt) {
		throw unsupported(model, 'negative_prompt');
	}
	const imageUrl = optionalText(fields, 'image_url');
	if (!imageUrl) return;
	if (!model.imageInput) throw unsupported(model, 'image_url');
	assertUrl(imageUrl, 'image_url', 'http or https');
}

/** Validates a video request (spec 4.2). */
function validateVideo(fields: Fields, model: VideoModel): Specifics {
	assertSupported(fields, model);
	const resolution = resolutionOf(fields, model);
	const duration = durationOf(fields, model);
	const fps = fpsOf(fields);
	assertReferences(model, urlList(fields, 'input_images', 'http or https').length, 'input_images');
	const [width, height] = frameSizes[resolution];
	return {
		seed: optionalInteger(fields, 'seed'),
		width,
		height,
		duration,
		fps,
		credits: videoPrice(model, resolution, duration),
	};
}

/**
 * Validates the body of a create request (spec 4.1, 4.2). Ignores fields that the spec does not name, because OpenAI
 * clients send some. Throws a `ServiceError` for the error response.
 */
export function validateCreation(body: unknown, type: MediaType): ValidRequest {
	if (!isObject(body)) {
		throw new ServiceError('invalid_request', 'The body must be a JSON object.');
	}
	const model = modelOf(body, type);
	const prompt = requiredText(body, 'prompt');
	const rest = model.type === 'image' ? validateImage(body, model) : validateVideo(body, model);
	return { model, prompt, ignored: ignoredIn(body, model), ...rest };
}
