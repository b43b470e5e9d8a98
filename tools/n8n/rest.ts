import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AxiosResponse } from 'axios';
import { http } from '../http';

/** The user who signs in. */
export interface Owner {
	email: string;
	password: string;
}

/** A workflow as n8n exports it. */
export interface WorkflowFile {
	name: string;
	nodes: unknown[];
	connections: object;
	settings?: object;
	[field: string]: unknown;
}

export interface Credential {
	id: string;
	name: string;
	type: string;
}

export interface Workflow extends WorkflowFile {
	id: string;
	versionId: string;
}

/** A node type as n8n's editor receives it. */
export interface NodeTypeEntry {
	name: string;
	displayName: string;
	version: number | number[];
	[field: string]: unknown;
}

/** An error response of n8n's REST API. */
class RestError extends Error {
	constructor(
		readonly status: number,
		request: string,
		body: string,
	) {
		super(`n8n answered ${request} with ${status}: ${body.slice(0, 500)}`);
	}
}

/** n8n answers some requests only when an execution has ended. In milliseconds. */
const longestRequest = 5 * 60_000;

/** How often a request is sent while n8n says that its database is not ready. */
const MOST_TRIES = 60;

function isNotReady({ status, data }: AxiosResponse<Buffer>): boolean {
	return status === 503 && data.toString().includes('Database is not ready');
}

/** A client of the REST API that n8n's editor uses. */
export class Rest {
	private cookie = '';

	/** @param url address of n8n, without a trailing slash */
	constructor(readonly url: string) {}

	/** Sends a file as form data, and returns the `data` of the response. Throws `RestError`. */
	async sendFile<T>(path: string, name: string, content: string): Promise<T> {
		const form = new FormData();
		form.set('file', new Blob([content], { type: 'text/csv' }), name);
		return await this.send('POST', path, form);
	}

	/** Sends a request and returns the `data` of the response. Throws `RestError`. */
	async send<T>(method: string, path: string, body?: unknown): Promise<T> {
		const text = (await this.request(method, `/rest${path}`, body)).data.toString();
		const parsed = text === '' ? {} : (JSON.parse(text) as { data?: T });
		return parsed.data as T;
	}

	/** Returns the response of a path as bytes. Throws `RestError`. */
	async bytes(path: string): Promise<Buffer> {
		return (await this.request('GET', `/rest${path}`)).data;
	}

	private async request(
		method: string,
		path: string,
		data?: unknown,
	): Promise<AxiosResponse<Buffer>> {
		const send = async () =>
			await http.request<Buffer>({
				method,
				url: `${this.url}${path}`,
				data,
				headers: { cookie: this.cookie || undefined },
				responseType: 'arraybuffer',
				timeout: longestRequest,
				timeoutErrorMessage: `n8n has not answered ${method} ${path} within ${longestRequest / 60_000} min`,
			});
		let response = await send();
		// On a busy machine, n8n says for a moment that its database is not ready. Such a request has done nothing.
		for (let tries = 1; isNotReady(response) && tries < MOST_TRIES; tries++) {
			await sleep(2_000);
			response = await send();
		}
		const { status } = response;
		if (status >= 300) throw new RestError(status, `${method} ${path}`, response.data.toString());
		return response;
	}

	/** Signs in as the owner. Creates the owner first if n8n has none. */
	async signIn(owner: Owner): Promise<void> {
		const { userManagement } = await this.send<{
			userManagement: { showSetupOnFirstLoad: boolean };
		}>('GET', '/settings');
		if (userManagement.showSetupOnFirstLoad) {
			await this.takeCookie('/owner/setup', { ...owner, firstName: 'Media', lastName: 'Owner' });
		} else {
			const { email, password } = owner;
			await this.takeCookie('/login', { emailOrLdapLoginId: email, password });
		}
	}

	private async takeCookie(path: string, body: object): Promise<void> {
		const { headers } = await this.request('POST', `/rest${path}`, body);
		const cookies = headers['set-cookie'] ?? [];
		this.cookie = cookies.map((cookie) => cookie.split(';')[0]).join('; ');
	}

	/** Creates a credential, or updates the one with that name and type. */
	async saveCredential(name: string, type: string, data: object): Promise<Credential> {
		const all = await this.send<Credential[]>('GET', '/credentials');
		const existing = all.find((each) => each.name === name && each.type === type);
		const body = { name, type, data };
		return existing
			? await this.send('PATCH', `/credentials/${existing.id}`, body)
			: await this.send('POST', '/credentials', body);
	}

	/** Runs n8n's test of a credential with the given data. Returns whether it passed, and n8n's message. */
	async testCredential(
		{ id, name, type }: Credential,
		data: object,
	): Promise<{ status: 'OK' | 'Error'; message: string }> {
		return await this.send('POST', '/credentials/test', { credentials: { id, name, type, data } });
	}

	/**
	 * Imports a workflow. Nodes that name a credential get the given one of the same type. If there are several, the name
	 * decides.
	 */
	async createWorkflow(file: WorkflowFile, ...credentials: Credential[]): Promise<Workflow> {
		const nodes = file.nodes.map((node) => withCredentials(node, credentials));
		// Older releases require `active`.
		const body = { active: false, ...file, id: undefined, nodes };
		return await this.send('POST', '/workflows', body);
	}

	async workflows(): Promise<Workflow[]> {
		return await this.send('GET', '/workflows');
	}

	/** Returns every node type that n8n has loaded. */
	async nodeTypes(): Promise<NodeTypeEntry[]> {
		const { data } = await this.request('GET', '/types/nodes.json');
		return JSON.parse(data.toString()) as NodeTypeEntry[];
	}
}

function withCredentials(node: unknown, given: Credential[]): unknown {
	const { credentials } = node as { credentials?: Record<string, { name?: string }> };
	if (!credentials) return node;
	const chosen = Object.entries(credentials).map(([type, own]) => {
		const ofType = given.filter((credential) => credential.type === type);
		const found = ofType.find(({ name }) => name === own.name) ?? ofType.at(-1);
		return [type, found ? { id: found.id, name: found.name } : own];
	});
	return { ...(node as object), credentials: Object.fromEntries(chosen) as object };
}

/** Reads a workflow file. Throws if it is not JSON. */
export async function readWorkflowFile(file: string): Promise<WorkflowFile> {
	return JSON.parse(await readFile(file, 'utf8')) as WorkflowFile;
}
