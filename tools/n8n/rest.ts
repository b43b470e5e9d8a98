import { readFile } from 'node:fs/promises';
import type { AxiosResponse } from 'axios';
import { http } from '../http';

/** Who signs in. */
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

/** A node type as n8n offers it to its editor. */
export interface NodeTypeEntry {
	name: string;
	displayName: string;
	version: number | number[];
	[field: string]: unknown;
}

/** An answer of n8n's interface that is none of success. */
export class RestError extends Error {
	constructor(
		readonly status: number,
		request: string,
		body: string,
	) {
		super(`n8n answered ${request} with ${status}: ${body.slice(0, 500)}`);
	}
}

/** n8n's interface, as its editor uses it. */
export class Rest {
	private cookie = '';

	/** @param url address of n8n, without a slash at the end */
	constructor(readonly url: string) {}

	/** Sends a file as a form does, and returns the `data` of the answer. Throws `RestError`. */
	async sendFile<T>(path: string, name: string, content: string): Promise<T> {
		const form = new FormData();
		form.set('file', new Blob([content], { type: 'text/csv' }), name);
		return await this.send('POST', path, form);
	}

	/** Sends a request and returns the `data` of the answer. Throws `RestError`. */
	async send<T>(method: string, path: string, body?: unknown): Promise<T> {
		const text = (await this.request(method, `/rest${path}`, body)).data.toString();
		const parsed = text === '' ? {} : (JSON.parse(text) as { data?: T });
		return parsed.data as T;
	}

	/** The bytes that a path answers with. Throws `RestError`. */
	async bytes(path: string): Promise<Buffer> {
		return (await this.request('GET', `/rest${path}`)).data;
	}

	private async request(
		method: string,
		path: string,
		data?: unknown,
	): Promise<AxiosResponse<Buffer>> {
		const response = await http.request<Buffer>({
			method,
			url: `${this.url}${path}`,
			data,
			headers: { cookie: this.cookie || undefined },
			responseType: 'arraybuffer',
		});
		const { status } = response;
		if (status >= 300) throw new RestError(status, `${method} ${path}`, response.data.toString());
		return response;
	}

	/** Signs in as the owner, who is made first where n8n has none yet. */
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

	/** Makes a credential, or brings the one of that name and type up to date. */
	async saveCredential(name: string, type: string, data: object): Promise<Credential> {
		const all = await this.send<Credential[]>('GET', '/credentials');
		const existing = all.find((each) => each.name === name && each.type === type);
		const body = { name, type, data };
		return existing
			? await this.send('PATCH', `/credentials/${existing.id}`, body)
			: await this.send('POST', '/credentials', body);
	}

	/** n8n's own test of a credential, with the data given; whether it passed, and what n8n says. */
	async testCredential(
		{ id, name, type }: Credential,
		data: object,
	): Promise<{ status: 'OK' | 'Error'; message: string }> {
		return await this.send('POST', '/credentials/test', { credentials: { id, name, type, data } });
	}

	/** Imports a workflow; its nodes get a credential where they name one of its type. */
	async createWorkflow(file: WorkflowFile, ...credentials: Credential[]): Promise<Workflow> {
		const nodes = credentials.reduce<unknown[]>(
			(all, credential) => all.map((node) => withCredential(node, credential)),
			file.nodes,
		);
		// Older releases do not take `active` for granted.
		const body = { active: false, ...file, id: undefined, nodes };
		return await this.send('POST', '/workflows', body);
	}

	async workflows(): Promise<Workflow[]> {
		return await this.send('GET', '/workflows');
	}

	/** Every node type that n8n has loaded. */
	async nodeTypes(): Promise<NodeTypeEntry[]> {
		const { data } = await this.request('GET', '/types/nodes.json');
		return JSON.parse(data.toString()) as NodeTypeEntry[];
	}
}

function withCredential(node: unknown, { id, name, type }: Credential): unknown {
	const { credentials } = node as { credentials?: Record<string, unknown> };
	if (!credentials?.[type]) return node;
	return { ...(node as object), credentials: { ...credentials, [type]: { id, name } } };
}

/** Reads a workflow file. Throws when it is not JSON. */
export async function readWorkflowFile(file: string): Promise<WorkflowFile> {
	return JSON.parse(await readFile(file, 'utf8')) as WorkflowFile;
}
