import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Caller } from '../accounts/accounts';
import { realTime } from '../basics/clock';
import { errorAnswer } from '../basics/errors';
import type { ServiceError } from '../basics/errors';
import type { ServiceRequest } from '../requests/request';
import type { GenerationService } from '../service';

/** The result of a tool. Its text is this body as JSON. */
export interface ToolAnswer {
	body: unknown;
	failed: boolean;
	/** For the log. */
	happened: string;
}

/** Returns the result of a tool call that succeeded. */
export function succeeded(body: unknown, happened: string): ToolAnswer {
	return { body, failed: false, happened };
}

/** Returns an error as a tool result: the error body of spec 2.5 (spec 6.3). */
export function refused({ row, message, param }: ServiceError): ToolAnswer {
	return { body: errorAnswer(row, message, param).body, failed: true, happened: row };
}

/** One agent's connection: its caller and the service behind the connector. */
export class McpConnection {
	constructor(
		readonly service: GenerationService,
		readonly caller: Caller,
		/** Its Authorization header, for the request log. */
		private readonly authorization: string | undefined,
	) {}

	/**
	 * Sends a request to the service as if it came through the REST interface, with the same checks, charges, limits
	 * and ordered faults. Throws if a fault withholds the response.
	 */
	async ask(request: Pick<ServiceRequest, 'method' | 'path' | 'query' | 'body'>) {
		const { caller, authorization } = this;
		const asked: ServiceRequest = { ...request, caller, headers: { authorization } };
		let reply = this.service.handle(asked);
		if (reply.delayMs > 0) {
			await realTime.sleep(reply.delayMs);
			reply = this.service.late(asked, reply);
		}
		if (reply.delivery !== 'answer') {
			throw new ProtocolError(ProtocolErrorCode.InternalError, 'The service did not answer.');
		}
		const answer: ToolAnswer = {
			body: reply.body,
			failed: reply.status !== 200,
			happened: reply.happened,
		};
		return answer;
	}
}
