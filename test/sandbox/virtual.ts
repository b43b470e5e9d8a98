import { keyNamed } from '../../sandbox/accounts/accounts';
import type { KeyName } from '../../sandbox/accounts/accounts';
import type { ConnectedApp } from '../../sandbox/accounts/connected-apps';
import type { GenerationEntry } from '../../sandbox/generations/generations';
import { GenerationService } from '../../sandbox/service';
import type { ServiceOptions } from '../../sandbox/service';

/** 2026-01-02T03:04:05.678Z: not a whole second, like most real times. */
export const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A clock that only moves when a test advances it. */
export class VirtualClock {
	constructor(private time = start) {}

	now(): number {
		return this.time;
	}

	pass(seconds: number): void {
		this.time += seconds * 1000;
	}
}

/** The body of an error answer (spec 2.5). */
export interface ErrorBody {
	error: { code: string | number; message: string; type: string; param?: string | null };
}

/** A service in virtual time with the requests that most tests send. Generations take ten seconds. */
export class VirtualSandbox {
	readonly clock = new VirtualClock();
	readonly service: GenerationService;

	constructor(options: ServiceOptions = {}) {
		this.service = new GenerationService({
			clock: this.clock,
			generationSeconds: 10,
			...options,
		});
	}

	/** Sends a request with a named key, for a connected app as its connector does, or with neither for null. */
	send(
		method: string,
		target: string,
		body?: unknown,
		from: KeyName | ConnectedApp | null = 'main',
		more: Record<string, string> = {},
	) {
		const url = new URL(target, 'http://service.invalid');
		const query = Object.fromEntries(url.searchParams);
		const request = { method, path: url.pathname, query, headers: more, body };
		if (from === null) return this.service.handle(request);
		if (typeof from === 'object') return this.service.handle({ ...request, caller: from });
		const headers = { ...more, authorization: `Bearer ${keyNamed(from)}` };
		return this.service.handle({ ...request, headers });
	}

	/** An app that has signed in to the account `main`. */
	connectApp(name = 'An app'): ConnectedApp {
		const { accounts, apps } = this.service;
		return apps.connect(name, name, accounts.account('main'), this.clock.now());
	}

	/** Creates an image from a valid request with the given fields added. */
	image(fields: Record<string, unknown> = {}, from: KeyName | ConnectedApp = 'main') {
		const body = { model: 'aurora-image-1', prompt: 'A lighthouse', ...fields };
		return this.send('POST', '/v1/images/generations', body, from);
	}

	/** Creates a video from a valid request with the given fields added. */
	video(fields: Record<string, unknown> = {}, from: KeyName | ConnectedApp = 'main') {
		const body = { model: 'aurora-motion-1', prompt: 'A paper boat', ...fields };
		return this.send('POST', '/v1/videos/generations', body, from);
	}

	/** Creates an image that is expected to be accepted. */
	created(fields: Record<string, unknown> = {}, key: KeyName = 'main'): GenerationEntry {
		const reply = this.image(fields, key);
		if (reply.status !== 200) throw new Error(reply.happened);
		return reply.body as GenerationEntry;
	}

	/** Returns the status response for an id. */
	look(id: string, key: KeyName = 'main'): GenerationEntry {
		return this.send('GET', `/v1/generations/${id}`, undefined, key).body as GenerationEntry;
	}

	/** Asks the storage origin for a URL. */
	fetch(address: string, method = 'GET', headers: Record<string, string> = {}) {
		const url = new URL(address);
		const query = Object.fromEntries(url.searchParams);
		return this.service.fetchOutput({ method, path: url.pathname, query, headers });
	}

	/** The balance of an account. */
	balance(account = 'main'): number {
		return this.service.accounts.account(account).balance;
	}
}
