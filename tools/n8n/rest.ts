import { readFile } from 'node:fs/promises';

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
		const response = await this.fetch(method, path, body);
		const text = await response.text();
		if (!response.ok) throw new RestError(response.status, `${method} ${path}`, text);
		const parsed = text === '' ? {} : (JSON.parse(text) as { data?: T });
		return parsed.data as T;
	}

	/** The bytes that a path answers with. Throws `RestError`. */
	async bytes(path: string): Promise<Buffer> {
		const response = await this.fetch('GET', path);
		if (!response.ok) throw new RestError(response.status, `GET ${path}`, await response.text());
		return Buffer.from(await response.arrayBuffer());
	}

	private async fetch(
		method: string,
		path: string,
		body?: unknown,
		prefix = '/rest',
	): Promise<Response> {
		const isForm = body instanceof FormData;
		const isJson = body !== undefined && !isForm;
		return await fetch(`${this.url}${prefix}${path}`, {
			method,
			headers: {
				...(this.cookie && { cookie: this.cookie }),
				...(isJson && { 'content-type': 'application/json' }),
			},
			body: isJson ? JSON.stringify(body) : body,
		});
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
		const response = await this.fetch('POST', path, body);
		if (!response.ok) throw new RestError(response.status, `POST ${path}`, await response.text());
		this.cookie = response.headers
			.getSetCookie()
			.map((cookie) => cookie.split(';')[0])
			.join('; ');
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
		const response = await this.fetch('GET', '/types/nodes.json', undefined, '');
		if (!response.ok) throw new RestError(response.status, 'GET /types/nodes.json', '');
		return (await response.json()) as NodeTypeEntry[];
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
