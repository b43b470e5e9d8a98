import type { ImageModel } from './model';
import { badValue } from '../basics/fields';

const smallestSide = 64;

/** Area of an image with a given aspect ratio: that of the default size (spec 4.1). */
const usualArea = 1024 * 1024;

function parsePair(text: string, pattern: RegExp): [number, number] | null {
	const found = pattern.exec(text);
	return found ? [Number(found[1]), Number(found[2])] : null;
}

function sizeOf(model: ImageModel, size: string): [number, number] {
	const pair = parsePair(size, /^(\d{1,5})x(\d{1,5})$/);
	if (!pair) throw badValue('size', 'size must have the form <width>x<height>.');
	if (model.sizes && !model.sizes.includes(size)) {
		throw badValue('size', `${model.id} makes ${model.sizes.join(', ')}, not ${size}.`);
	}
	const [maxWidth, maxHeight] = model.maxResolution;
	const [width, height] = pair;
	if (width > maxWidth || height > maxHeight || Math.min(width, height) < smallestSide) {
		throw badValue(
			'size',
			`${model.id} makes ${smallestSide}x${smallestSide} to ${maxWidth}x${maxHeight}, not ${size}.`,
		);
	}
	return pair;
}

function sizeOfRatio(model: ImageModel, ratio: string): [number, number] {
	const param = 'parameters.aspect_ratio';
	const pair = parsePair(ratio, /^(\d{1,3}):(\d{1,3})$/);
	if (!pair || pair[0] === 0 || pair[1] === 0) {
		throw badValue(param, 'parameters.aspect_ratio must have the form <w>:<h>.');
	}
	const proportion = pair[0] / pair[1];
	if (proportion > 4 || proportion < 1 / 4) {
		throw badValue(param, 'parameters.aspect_ratio must lie between 1:4 and 4:1.');
	}
	const [maxWidth, maxHeight] = model.maxResolution;
	const width = Math.sqrt(usualArea * proportion);
	const shrink = Math.min(1, maxWidth / width, maxHeight / (width / proportion));
	const inEights = (side: number): number => Math.max(smallestSide, Math.round(side / 8) * 8);
	return [inEights(width * shrink), inEights((width / proportion) * shrink)];
}

/**
 * Returns the width and height of the requested image in pixels. An aspect ratio overrides the size (spec 4.1). Throws
 * `invalid_parameter` if the model does not support the size.
 */
export function imageSize(
	model: ImageModel,
	size: string | null,
	ratio: string | null,
): [number, number] {
	return ratio === null ? sizeOf(model, size ?? '1024x1024') : sizeOfRatio(model, ratio);
}
