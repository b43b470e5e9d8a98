import { GenerationError } from '../../client/api/errors';
import { ServiceClient } from '../../client/api/client';
import type { ServiceResponse } from '../../client/ports';
import { answer, wireGeneration } from './answers';
import { FakeService } from './fake-service';
import { VirtualTime } from './virtual-time';

/** A creating request for an image, as it is after all input checks. */
export const IMAGE = { type: 'image', body: { model: 'aurora-image-1', prompt: 'A cat' } } as const;

/** Returns a client of a service that responds to each request with the next of `replies`, and repeats the last one. */
export function scripted(...replies: Array<ServiceResponse | Error>) {
	const time = new VirtualTime(0);
	const stop = new AbortController();
	const fake = new FakeService(time);
	fake.replies = replies;
	const { send, seen } = fake;
	const service = new ServiceClient({ clock: time, random: () => 0, signal: stop.signal, send });
	return { time, stop, seen, service };
}

/**
 * Returns the error that a task ends with.
 *
 * @throws if the task does not end with a `GenerationError`
 */
export async function thrownBy(task: Promise<unknown>): Promise<GenerationError> {
	const thrown: unknown = await task.then(
		() => null,
		(error: unknown) => error,
	);
	if (thrown instanceof GenerationError) return thrown;
	throw new Error(`No GenerationError: ${String(thrown)}`);
}

/** A response that is valid for every endpoint. */
export const readable = answer({ ...wireGeneration(), balance: 7 });

/** The name of the order, for services that support its header. */
export const NAME = 'the name of an order';
