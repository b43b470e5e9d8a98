import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

const channel = 'http.client.request.start';

/** Records the requests that this process sends with `node:http`, in order. Each is recorded when it is sent. */
export class Outgoing {
	/** Method and path of each request. */
	readonly sent: string[] = [];

	private readonly note = (message: unknown): void => {
		const { request } = message as { request: ClientRequest };
		this.sent.push(`${request.method} ${request.path}`);
	};

	constructor() {
		subscribe(channel, this.note);
	}

	stop(): void {
		unsubscribe(channel, this.note);
	}
}
