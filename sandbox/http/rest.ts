import type { FastifyInstance } from 'fastify';
import type { GenerationService } from '../service';
import { deliver } from './deliver';
import type { LogLine } from './log';
import { serviceRequest } from './request';

/** The service's origin over HTTP (spec 4). Answers come `latencyMs` milliseconds late. */
export function addRestRoutes(
	app: FastifyInstance,
	service: GenerationService,
	log: LogLine,
	latencyMs: () => number,
): void {
	app.all('/*', async (request, reply) => {
		const started = performance.now();
		const asked = serviceRequest(request);
		const answered = service.handle(asked);
		await deliver(reply, { ...answered, delayMs: answered.delayMs + latencyMs() });
		log({ ...asked, ...answered, milliseconds: performance.now() - started });
	});
}
