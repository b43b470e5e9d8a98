/** Checks the packed package in a real n8n: its nodes, its example, its files. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

import manifest from '../../package.json';
import { getBytes } from '../../tools/http';
import { readWorkflowFile } from '../../tools/n8n/rest';
import type { NodeTypeEntry } from '../../tools/n8n/rest';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { repository } from './support/surroundings';
import { byHand, packageName, trigger } from './support/workflows';

const names = manifest.n8n.nodes.map((file) => {
	const name = basename(file, '.node.js');
	return `${name[0].toLowerCase()}${name.slice(1)}`;
});
const examples = join(repository, 'examples');

let stage: Stage;
let types: NodeTypeEntry[];

beforeAll(async () => {
	stage = await Stage.share({ name: 'nodes' });
	types = await stage.rest.nodeTypes();
});
afterAll(async () => await stage?.close());

function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

async function fetched(url: unknown): Promise<Buffer> {
	const { status, data } = await getBytes(String(url));
	expect(status).toBe(200);
	return data;
}

it('has the nodes under their names, and each of them as a tool for agents', () => {
	const own = types.map(({ name }) => name).filter((name) => name.startsWith(`${packageName}.`));
	const expected = names.flatMap((name) => [name, `${name}Tool`]);
	expect(own.sort()).toEqual(expected.map((name) => `${packageName}.${name}`).sort());
});

it('has a type for every node in every example', async () => {
	const known = new Set(types.map(({ name }) => name));
	for (const name of readdirSync(examples).filter((file) => file.endsWith('.json'))) {
		const { nodes } = await readWorkflowFile(join(examples, name));
		const used = nodes.map((node) => (node as { type: string }).type);
		expect([name, used.filter((type) => !known.has(type))]).toEqual([name, []]);
	}
});

it('tests the credential, and says what is wrong if the service rejects it', async () => {
	const { url, keys } = stage.sandbox;
	const tested = async (apiKey: string, baseUrl = url) =>
		await stage.rest.testCredential(stage.credential, { baseUrl, apiKey });
	expect((await tested(keys.main)).status).toBe('OK');
	expect((await tested(keys.revoked)).status).toBe('Error');
	expect((await tested(keys.main, 'http://127.0.0.1:1')).message).toContain(
		'The service cannot be reached: connection refused (127.0.0.1:1)',
	);
	expect(await tested(keys.main, 'file:///x')).toEqual({
		status: 'Error',
		message: 'The Base URL in the credential must start with https:// or http://',
	});
	expect(await tested(keys.main, url.replace('://', '://user:pass@'))).toEqual({
		status: 'Error',
		message: 'The Base URL in the credential must not contain a user name or password',
	});
});

it('runs the main example and returns the files of the service, byte for byte', async () => {
	const workflow = await stage.save(await readWorkflowFile(join(examples, 'main.json')));
	const id = await stage.executions.run(workflow, 'When clicking ‘Execute workflow’');
	const execution = await stage.executions.ended(id);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);

	const made = ['Create Picture', 'Collect Video'].map((node) => itemsOf(execution, node)[0]);
	const kinds = [];
	for (const { json, binary } of made) {
		const file = binary?.data;
		if (!file) throw new Error(`Generation ${String(json.id)} came without its file`);
		const bytes = await stage.executions.download(file);
		expect(sha256(bytes)).toBe(sha256(await fetched(json.url)));
		// Older releases of n8n give the size only as text for people, such as "1.2 MB".
		expect(file.bytes ?? bytes.length).toBe(bytes.length);
		kinds.push([file.fileName, file.mimeType, json.status]);
	}
	expect(kinds).toEqual([
		['evening-hills.png', 'image/png', 'completed'],
		['evening-hills.mp4', 'video/mp4', 'completed'],
	]);
	const { generations } = stage.sandbox.books;
	expect(generations.map(({ id: made, state }) => [made, state])).toEqual(
		made.map(({ json }) => [json.id, 'completed']),
	);
});

it('lets HTTP Request use the credential for the service, and for no other origin', async () => {
	const { generations } = stage.sandbox.books;
	const download = stage.sandbox.service.outputUrl(generations[0].id) ?? '';
	const run = async (url: string) => {
		const request = {
			id: 'request',
			name: 'Request',
			type: 'n8n-nodes-base.httpRequest',
			typeVersion: 4.2,
			parameters: {
				url,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: 'mediaGenerationApi',
			},
			credentials: { mediaGenerationApi: { id: null, name: stage.credential.name } },
		};
		const workflow = await stage.save(byHand('Request', ['one'], request));
		const id = await stage.executions.run(workflow, trigger);
		return await stage.executions.ended(id);
	};
	const balance = await run(`${stage.sandbox.url}/v1/credits/balance`);
	expect(itemsOf(balance, 'Request')).toMatchObject([{ json: { object: 'credit_balance' } }]);
	expect(JSON.stringify(await run(download))).toContain('sent to the Base URL only');
	const location = download;
	stage.sandbox.faults.order({ on: 'credits', action: { kind: 'redirect', location } });
	await run(`${stage.sandbox.url}/v1/credits/balance`);
});
