import { GenerationError } from '../../client/api/errors';
import type { ServiceRequest, ServiceResponse } from '../../client/ports';
import { ServiceClient } from '../../client/api/client';
import { answer, wireGeneration } from './answers';
import { VirtualTime } from './virtual-time';

/** What is sent to create one, as the checks have left it. */
export const IMAGE = { type: 'image', body: { model: 'aurora-image-1', prompt: 'A cat' } } as const;

/** A service that answers each request with the next of `answers`, and the last one ever after. */
export function scripted(...answers: Array<ServiceResponse | Error>) {
	const time = new VirtualTime(0);
	const stop = new AbortController();
	const sent: ServiceRequest[] = [];
	const sentAt: number[] = [];
	const service = new ServiceClient({
		clock: time,
		random: () => 0,
		signal: stop.signal,
		send: async (request) => {
			const next = answers[Math.min(sent.length, answers.length - 1)];
			sent.push(request);
			sentAt.push(time.now());
			if (next instanceof Error) throw next;
			return next;
		},
	});
	return { time, stop, sent, sentAt, service };
}

/** @throws where a task does not end with such an error */
export async function thrownBy(task: Promise<unknown>): Promise<GenerationError> {
	const thrown: unknown = await task.then(
		() => null,
		(error: unknown) => error,
	);
	if (thrown instanceof GenerationError) return thrown;
	throw new Error(`No GenerationError: ${String(thrown)}`);
}

/** An answer that every endpoint can read. */
export const readable = answer({ ...wireGeneration(), balance: 7 });

/** Of the order, for those who know the header. */
export const NAME = 'the name of an order';
