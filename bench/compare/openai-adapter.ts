import { pipeline } from 'node:stream/promises';
import type { Response as HttpResponse } from 'express';
import type { Video, VideoSize } from 'openai/resources/videos';

import { errorAnswer } from '../../sandbox/basics/errors';
import type { GenerationEntry } from '../../sandbox/generations/generations';
import { bodyAsBytes, close, listen, serverWith } from '../../sandbox/http/app';
import { deliver } from '../../sandbox/http/deliver';
import { serviceRequest } from '../../sandbox/http/request';
import type { Reply } from '../../sandbox/requests/reply';
import type { ServiceRequest } from '../../sandbox/requests/request';
import type { GenerationService } from '../../sandbox/service';
import { getStream } from '../../tools/http';

/** The sandbox's service with the interface of OpenAI's video API. */
export interface OpenAiAdapter {
	/** The base URL of a credential, with `/v1`. */
	url: string;
	close(): Promise<void>;
}

const host = '127.0.0.1';

const resolutions: Readonly<Record<VideoSize, string>> = {
	'720x1280': '720p',
	'1280x720': '720p',
	'1024x1792': '1080p',
	'1792x1024': '1080p',
};

const statuses: Readonly<Record<GenerationEntry['status'], Video['status']>> = {
	pending: 'queued',
	processing: 'in_progress',
	completed: 'completed',
	failed: 'failed',
};

/**
 * Makes a running service available to n8n's OpenAI node, with the same keys, charges, limits, generation times
 * and faults. Each request is recorded once.
 */
export async function openOpenAiAdapter(service: GenerationService): Promise<OpenAiAdapter> {
	const forward = async (response: HttpResponse, asked: ServiceRequest): Promise<void> =>
		await deliver(response, translated(service, service.handle(asked)));
	const server = serverWith((app) => {
		app.use(bodyAsBytes);
		app.post('/v1/videos', async (request, response) => {
			const form = await formOf(request.body, request.headers['content-type']);
			const path = '/v1/videos/generations';
			await forward(response, { ...serviceRequest(request), path, body: creationFrom(form) });
		});
		app.get('/v1/videos/:id', async (request, response) => {
			const path = `/v1/generations/${request.params.id}`;
			await forward(response, { ...serviceRequest(request), path });
		});
		app.get('/v1/videos/:id/content', async (request, response) => {
			// Does not use `handle`, because the storage already records this as a request.
			await sendContent(response, service.outputUrl(request.params.id));
		});
	});
	const url = await listen(server, host, 0);
	return { url: `${url}/v1`, close: async () => await close(server) };
}

async function formOf(body: unknown, contentType = ''): Promise<FormData> {
	const bytes = body instanceof Buffer ? body : Buffer.alloc(0);
	return await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
}

/** Returns the service's request body for OpenAI's form fields. The service itself reports missing fields. */
function creationFrom(form: FormData): Record<string, unknown> {
	const size = String(form.get('size') ?? '1280x720');
	return {
		model: form.get('model') ?? undefined,
		prompt: form.get('prompt') ?? undefined,
		duration: Number(form.get('seconds') ?? 4),
		resolution: resolutions[size as VideoSize] ?? size,
	};
}

/** Returns the response in OpenAI's format. Errors have the same format in both. */
function translated(service: GenerationService, answered: Reply): Reply {
	if (answered.status !== 200) return answered;
	return { ...answered, body: videoFrom(service, answered.body as GenerationEntry) };
}

function videoFrom({ books }: GenerationService, entry: GenerationEntry): Video {
	const booked = books.find(entry.id);
	const ended = entry.status === 'completed' || entry.status === 'failed';
	return {
		id: entry.id,
		object: 'video',
		model: entry.model,
		status: statuses[entry.status],
		progress: ended ? 100 : 0,
		created_at: entry.created,
		completed_at: booked && ended ? Math.floor(booked.finishes / 1000) : null,
		expires_at: null,
		prompt: booked?.prompt ?? null,
		seconds: String(booked?.request.duration),
		size: sizeOf(booked?.request.resolution),
		error: errorFrom(entry.error),
		remixed_from_video_id: null,
	};
}

function sizeOf(resolution: unknown): VideoSize {
	return resolution === '1080p' ? '1792x1024' : '1280x720';
}

function errorFrom(error: unknown): Video['error'] {
	if (error === undefined) return null;
	const { code = 'generation_failed', message = String(error) } = error as Partial<
		NonNullable<Video['error']>
	>;
	return { code, message };
}

async function sendContent(response: HttpResponse, url: string | undefined): Promise<void> {
	if (url === undefined) {
		const { status, body } = errorAnswer('generation_not_found');
		response.status(status).json(body);
		return;
	}
	const { status, headers, data } = await getStream(url);
	const type = String(headers['content-type'] ?? 'application/octet-stream');
	response.writeHead(status, { 'content-type': type });
	await pipeline(data, response);
}
