import type { Express, Request, Response } from 'express';
import { readFile } from '../media/file';
import type { MediaLibrary } from '../media/library';
import { drawThumbnail } from '../media/thumbnail';
import type { Output } from '../generations/generations';
import type { GenerationService } from '../service';
import { requestedRange } from './range';

/** Length of the longer side in pixels: twice the size of a card, for high-density screens. */
const thumbnailSide = 640;

/** Returns the path of the thumbnail of a finished generation. */
export function thumbnailPath(id: string): string {
	return `/_sandbox/outputs/${id}/thumbnail`;
}

/** Returns the path of the video of a finished generation. */
export function videoPath(id: string): string {
	return `/_sandbox/outputs/${id}/video`;
}

function sendBytes(request: Request, response: Response, type: string, bytes: Buffer): void {
	response.set({ 'cache-control': 'private, max-age=600', 'accept-ranges': 'bytes' }).type(type);
	const range = requestedRange(request.headers.range, bytes.length);
	if (!range) return void response.send(bytes);
	if (range === 'unsatisfiable') return void response.sendStatus(416);
	const { start, end } = range;
	response.set('content-range', `bytes ${start}-${end - 1}/${bytes.length}`);
	response.status(206).send(bytes.subarray(start, end));
}

/**
 * Serves previews of finished outputs for the status page. It bypasses the storage: requests there would be recorded
 * and would use up the faults that are ordered for downloads.
 */
export function addPreviews(app: Express, service: GenerationService, library: MediaLibrary): void {
	const serve = (
		path: string,
		answer: (output: Output, request: Request, response: Response) => Promise<void>,
	) =>
		app.get(path, async (request, response) => {
			const output = service.books.output(String(request.params.id));
			if (output) await answer(output, request, response);
			else response.sendStatus(404);
		});
	serve(thumbnailPath(':id'), async (output, request, response) => {
		sendBytes(request, response, 'image/jpeg', await drawThumbnail(output, thumbnailSide));
	});
	serve(videoPath(':id'), async (output, request, response) => {
		// Without the padding that a prompt can request.
		const file = await library.open({ ...output, bytes: null });
		sendBytes(
			request,
			response,
			file.contentType,
			Buffer.concat([...readFile(file, 0, file.size)]),
		);
	});
}
