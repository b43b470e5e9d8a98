import type { Express, Response } from 'express';
import { readFile } from '../media/file';
import type { MediaLibrary } from '../media/library';
import { drawThumbnail } from '../media/thumbnail';
import type { Output } from '../generations/generations';
import type { GenerationService } from '../service';

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

function sendBytes(response: Response, type: string, bytes: Buffer): void {
	response.set('cache-control', 'private, max-age=600').type(type).send(bytes);
}

/**
 * Serves previews of finished outputs for the status page. It bypasses the storage: requests there would be recorded
 * and would use up the faults that are ordered for downloads.
 */
export function addPreviews(app: Express, service: GenerationService, library: MediaLibrary): void {
	const serve = (path: string, answer: (output: Output, response: Response) => Promise<void>) =>
		app.get(path, async (request, response) => {
			const output = service.books.output(String(request.params.id));
			if (output) await answer(output, response);
			else response.sendStatus(404);
		});
	serve(thumbnailPath(':id'), async (output, response) => {
		sendBytes(response, 'image/jpeg', await drawThumbnail(output, thumbnailSide));
	});
	serve(videoPath(':id'), async (output, response) => {
		// Without the padding that a prompt can request.
		const file = await library.open({ ...output, bytes: null });
		sendBytes(response, file.contentType, Buffer.concat([...readFile(file, 0, file.size)]));
	});
}
