import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

const channel = 'http.client.request.start';

/** The requests that this process sends by `node:http`, in their order, each from the moment it leaves. */
export class Outgoing {
	/** Method and path. */
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
