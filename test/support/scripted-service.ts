import { GenerationError } from '../../client/api/errors';
import { ServiceClient } from '../../client/api/client';
import type { ServiceResponse } from '../../client/ports';
import { answer, wireGeneration } from './answers';
import { FakeService } from './fake-service';
import { VirtualTime } from './virtual-time';

/** What is sent to create one, as the checks have left it. */
export const IMAGE = { type: 'image', body: { model: 'aurora-image-1', prompt: 'A cat' } } as const;

/** A client of a service that responds to each request with the next of `replies`, and repeats the last one. */
export function scripted(...replies: Array<ServiceResponse | Error>) {
	const time = new VirtualTime(0);
	const stop = new AbortController();
	const fake = new FakeService(time);
	fake.replies = replies;
	const { send, seen } = fake;
	const service = new ServiceClient({ clock: time, random: () => 0, signal: stop.signal, send });
	return { time, stop, seen, service };
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
