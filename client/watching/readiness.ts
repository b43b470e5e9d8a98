import { attempt } from '../basics/attempt';
import { isFinal, type Generation } from '../wire/generation';
import type { Clock, ProbeUrl } from '../basics/ports';
import type { GenerationService } from '../wire/service';

/** Every so many looks the status is asked for instead, since a failed generation never writes its output. */
const STATUS_EVERY = 5;

/**
 * Looks at a generation by asking its output URL for the first byte (spec 4.3, the alternative readiness probe), and
 * now and then by its status. A URL that answers with success has its file: the generation is completed.
 */
export function readinessObserver(
	service: GenerationService,
	probe: ProbeUrl,
	clock: Clock,
): (generation: Generation, looks: number) => Promise<Generation> {
	return async (generation, looks) => {
		const { item } = generation;
		const expired = item.url_expires_at !== null && Date.parse(item.url_expires_at) <= clock.now();
		if (item.url === null || expired || looks % STATUS_EVERY === 0 || isFinal(generation)) {
			return await service.status(item.id);
		}
		const url = item.url;
		const probed = await attempt(async () => await probe(url));
		const written = probed.ok && probed.value.status >= 200 && probed.value.status < 300;
		return written ? { ...generation, item: { ...item, status: 'completed' } } : generation;
	};
}
