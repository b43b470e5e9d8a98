import type { Ledger } from '../books/ledger';
import type { Output, VideoOutput } from './generations';

type Body = Readonly<Record<string, unknown>>;

/** Returns the name and the URL of the picture that a video starts from (spec 4.2), or null. */
export function startUrl({ image_url, input_images }: Body): [name: string, url: string] | null {
	if (typeof image_url === 'string' && image_url !== '') return ['image_url', image_url];
	const [first] = Array.isArray(input_images) ? (input_images as unknown[]) : [];
	return typeof first === 'string' ? ['input_images[0]', first] : null;
}

/** Returns the video in the proportions of a picture, at most 16:9 or 9:16. Its shorter side stays. */
export function withProportions(
	output: VideoOutput,
	picture: { width: number; height: number },
): VideoOutput {
	const short = Math.min(output.width, output.height);
	const ratio = Math.min(16 / 9, Math.max(9 / 16, picture.width / picture.height));
	// H.264 needs even numbers.
	const long = Math.round((short * Math.max(ratio, 1 / ratio)) / 2) * 2;
	return { ...output, width: ratio < 1 ? short : long, height: ratio < 1 ? long : short };
}

/** Returns the output. A video that starts from a picture of this sandbox shows it, and nothing need be fetched. */
export function withOwnPicture(output: Output, body: Body, ledger: Ledger): Output {
	const [, id] = /\/media-outputs\/([^/]+)\.png\?/.exec(startUrl(body)?.[1] ?? '') ?? [];
	const start = id ? ledger.find(id)?.output : undefined;
	if (output.type !== 'video' || start?.type !== 'image') return output;
	return { ...withProportions(output, start), start };
}
