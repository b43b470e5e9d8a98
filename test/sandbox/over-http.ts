import type { AxiosRequestConfig, AxiosResponse } from 'axios';
import { realTime } from '../../sandbox/basics/clock';
import type { GenerationEntry } from '../../sandbox/generations/generations';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';

/** Sends a request with the main key. */
export async function send<T = unknown>(
	sandbox: Sandbox,
	path: string,
	body?: unknown,
	config?: AxiosRequestConfig,
): Promise<AxiosResponse<T>> {
	return await http.request<T>({
		url: `${sandbox.url}${path}`,
		method: body === undefined ? 'GET' : 'POST',
		headers: { authorization: `Bearer ${sandbox.keys.main}` },
		data: body,
		...config,
	});
}

async function entryFrom(response: Promise<AxiosResponse<unknown>>): Promise<GenerationEntry> {
	const { status, data } = await response;
	if (status !== 200) throw new Error(`${status} ${JSON.stringify(data)}`);
	return data as GenerationEntry;
}

/** Creates a small picture. Rejects with the status if the request is rejected. */
export async function createOverHttp(
	sandbox: Sandbox,
	fields: Record<string, unknown> = {},
): Promise<GenerationEntry> {
	const body = { model: 'lumen-turbo', prompt: 'A lighthouse', size: '128x128', ...fields };
	return await entryFrom(send(sandbox, '/v1/images/generations', body));
}

/** Returns the status response for an id. */
export async function lookOverHttp(sandbox: Sandbox, id: string): Promise<GenerationEntry> {
	return await entryFrom(send(sandbox, `/v1/generations/${id}`));
}

/** Creates a small finished picture, and returns it with its URL. */
export async function finishedOverHttp(
	sandbox: Sandbox,
	fields: Record<string, unknown> = {},
): Promise<{ id: string; url: string }> {
	// Takes so long that it cannot end before `finish`.
	const prompt = `${String(fields.prompt ?? 'A lighthouse')} [seconds: 60000]`;
	const { id, data } = await createOverHttp(sandbox, { ...fields, prompt });
	sandbox.service.finish(id);
	return { id, url: data[0].url };
}

/** Waits until a condition is true. Only the test's timeout limits it. */
export async function until(holds: () => boolean): Promise<void> {
	while (!holds()) await new Promise(setImmediate);
}

/**
 * Holds the delays of a sandbox until the test ends them, so that no test depends on the speed of the machine. A client
 * that leaves ends its delay as well. `jest.restoreAllMocks()` takes it back.
 *
 * @returns `began` resolves with the milliseconds of the first delay; `end` ends it, and later ones at once
 */
export function holdSleep(): { began: Promise<number>; end: () => void } {
	let begin!: (ms: number) => void;
	let end!: () => void;
	const began = new Promise<number>((resolve) => (begin = resolve));
	const ended = new Promise<void>((resolve) => (end = resolve));
	jest.spyOn(realTime, 'sleep').mockImplementation(async (ms, signal) => {
		begin(ms);
		const left = new Promise<void>((resolve) => {
			signal?.addEventListener('abort', () => resolve(), { once: true });
		});
		await Promise.race([ended, left]);
	});
	return { began, end };
}
