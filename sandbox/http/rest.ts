import type { Express } from 'express';
import type { GenerationService } from '../service';
import { deliver, waitForTurn } from './deliver';
import type { LogLine } from './log';
import { serviceRequest } from './request';

/** Serves the service's origin over HTTP (spec 4). Responses are delayed by `latencyMs` milliseconds. */
export function addRestRoutes(
	app: Express,
	service: GenerationService,
	log: LogLine,
	latencyMs: () => number,
): void {
	app.use(async (request, response) => {
		const started = performance.now();
		const asked = serviceRequest(request);
		let answered = service.handle(asked);
		const delayMs = answered.delayMs + latencyMs();
		if (answered.delivery === 'answer' && delayMs > 0) {
			const present = await waitForTurn(response, delayMs);
			answered = { ...(present ? service.late(asked, answered) : answered), delayMs: 0 };
		}
		await deliver(response, answered);
		log({ ...asked, ...answered, milliseconds: performance.now() - started });
	});
}
