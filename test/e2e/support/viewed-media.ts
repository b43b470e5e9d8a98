/** What the browser knows about media on a page. These functions run in the browser, so they use nothing from outside. */

/** The part of the browser's own types that they use. This repository does not load those types. */
interface Picture {
	decode(): Promise<void>;
	naturalWidth: number;
	naturalHeight: number;
}
interface Video {
	readyState: number;
	videoWidth: number;
	videoHeight: number;
	duration: number;
	currentTime: number;
}

/** Returns the width and height of a picture, once it is drawn. */
export async function sizeOfPicture(image: Picture): Promise<number[]> {
	await image.decode();
	return [image.naturalWidth, image.naturalHeight];
}

/** True once the browser can show the video. */
export function isLoaded({ readyState }: Pick<Video, 'readyState'>): boolean {
	return readyState >= 3;
}

/** Shows a video at its midpoint. Returns its width, height and duration. */
export function showMidpoint(film: Video): number[] {
	film.currentTime = film.duration / 2;
	return [film.videoWidth, film.videoHeight, film.duration];
}
