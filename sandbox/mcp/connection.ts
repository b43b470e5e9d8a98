import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../accounts/accounts';
import { realTime } from '../basics/clock';
import { errorAnswer } from '../basics/errors';
import type { ServiceError } from '../basics/errors';
import type { ServiceRequest } from '../requests/request';
import type { GenerationService } from '../service';

/** What a tool answers: the text of its result is this body as JSON. */
export interface ToolAnswer {
	body: unknown;
	failed: boolean;
	/** For the log. */
	happened: string;
}

/** The answer of a tool that has done its work. */
export function succeeded(body: unknown, happened: string): ToolAnswer {
	return { body, failed: false, happened };
}

/** A refusal as a tool answers it: the error body of spec 2.5 (spec 6.3). */
export function refused({ row, message, param }: ServiceError): ToolAnswer {
	return { body: errorAnswer(row, message, param).body, failed: true, happened: row };
}

/** One agent's connection: who it acts for, and the service behind the connector. */
export class McpConnection {
	constructor(
		readonly service: GenerationService,
		readonly caller: Caller,
		/** What it came with, for the record of requests. */
		private readonly authorization: string | undefined,
	) {}

	/**
	 * Has the service do what the same request at its REST interface would: with the same checks,
	 * charges, limits and ordered faults. Throws where a fault keeps the answer back.
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
			throw new McpError(ErrorCode.InternalError, 'The service did not answer.');
		}
		const answer: ToolAnswer = {
			body: reply.body,
			failed: reply.status !== 200,
			happened: reply.happened,
		};
		return answer;
	}
}
