/** Signs in to the connector with n8n's own credential, a person in a browser, and a scripted agent. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Credential, WorkflowFile } from '../../tools/n8n/rest';
import { Editor } from './support/browser';
import { ChatModel } from '../../tools/stand-ins/chat-model';
import { button, readExample } from './support/examples';
import { Stage } from './support/stage';

let stage: Stage;
let editor: Editor;
let example: WorkflowFile;
let model: ChatModel;

beforeAll(async () => {
	stage = await Stage.share({ name: 'sign-in' });
	editor = await Editor.open(stage.n8n.url, stage.user, stage.folder);
	example = await readExample('mcp-agent-signed-in');
});
afterAll(async () => {
	await editor?.close();
	await stage?.close();
});
afterEach(async () => await model?.close());

const prompt = 'A brass key on green velvet, macro photograph';

/** Sets up an agent that searches the library and creates what is missing. */
async function agent(): Promise<Credential> {
	const picture = { type: 'image', model: 'aurora-image-1', prompt, size: '512x512' };
	model = await ChatModel.scripted(
		() => ({ tool: 'Connector_list_library', args: { type: 'image' } }),
		() => ({ tool: 'Connector_create_generation', args: picture }),
		({ messages }) => ({ text: `The service says: ${messages.at(-1)?.content}` }),
	);
	return await stage.rest.saveCredential('OpenAI account', 'openAiApi', model.credential);
}

/** Returns the example with the address of the connector filled in. */
function addressed(): WorkflowFile {
	const text = JSON.stringify(example).replaceAll('https://api.example.com', stage.sandbox.url);
	return JSON.parse(text) as WorkflowFile;
}

/** Runs the example with the credential that was connected in the browser. */
async function run(): Promise<Execution> {
	const all = await stage.rest.send<Credential[]>('GET', '/credentials');
	const signIn = all.filter(({ type }) => type === 'mcpOAuth2Api');
	const workflow = await stage.save(addressed(), await agent(), ...signIn);
	return await stage.executions.ended(await stage.executions.run(workflow, button));
}

/**
 * Clicks a button of the credential, and returns the window that it opens. n8n closes the window
 * again, with a notification, if it could not prepare the sign-in: a person clicks once more.
 */
async function connect(name: string, clicks = 3): Promise<Page> {
	const dialog = editor.part('editCredential-modal');
	const opened = editor.page.waitForEvent('popup');
	await dialog.getByRole('button', { name, exact: true }).click();
	const popup = await opened;
	try {
		await popup.getByText('asks to use the connector').waitFor();
		return popup;
	} catch (error) {
		const said = await editor.page.getByRole('alert').allInnerTexts();
		console.warn(`n8n ended the sign-in: ${said.join('; ') || String(error)}`);
		if (!popup.isClosed() || clicks === 1) throw error;
		return await connect(name, clicks - 1);
	}
}

/** Returns what the tool told the agent, as the workflow shows it. */
function agentSaid(execution: Execution): string {
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	return String(itemsOf(execution, 'Librarian')[0].json.output);
}

it('connects an account if a person allows it, and not if they deny it', async () => {
	const workflow = await stage.save(example, await agent());
	await editor.openWorkflow(workflow.id);
	await editor.openNode('Connector');
	await editor.part('ndv').getByRole('button', { name: 'Connect to' }).click();
	const server = editor.part('parameter-input-serverUrl').locator('input');
	await server.fill(`${stage.sandbox.url}/mcp`);

	const denied = await connect('Connect');
	await denied.screenshot({ path: join(stage.folder, 'consent.png') });
	await denied.getByRole('button', { name: 'Deny' }).click();
	await denied.getByText('Failed to connect').waitFor();
	await denied.getByText('More details').click();
	expect(await denied.innerText('body')).toContain('access_denied');
	await denied.close();
	expect(stage.sandbox.service.apps.all()).toEqual([]);

	const allowed = await connect('Connect');
	await allowed.getByRole('button', { name: 'Allow' }).click();
	// Once it has saved the credential, n8n closes both on its own. A busy machine may miss its notification.
	await editor.part('editCredential-modal').waitFor({ state: 'hidden' });
	await editor.shoot('connected');
	const endpoint = editor.part('parameter-input-endpointUrl').locator('input');
	await endpoint.fill(`${stage.sandbox.url}/mcp`);
	expect(stage.sandbox.service.apps.all()).toMatchObject([
		{ title: 'n8n', account: { name: 'main' } },
	]);

	await editor.closeNode();
	await editor.execute(8);
	await editor.shoot('workflow');
	const [made, ...others] = stage.sandbox.books.generations;
	expect(others).toEqual([]);
	expect(made).toMatchObject({ prompt, key: 'app-1', account: 'main', charged: 8 });
	const [id] = await stage.executions.idsOf(workflow.id);
	const [{ json, binary }] = itemsOf(await stage.executions.ended(id), 'Fetch File');
	expect(json.id).toBe(made.id);
	if (!binary) throw new Error('The item has no file.');
	const bytes = await stage.executions.download(binary.data);
	expect(bytes.subarray(1, 4).toString()).toBe('PNG');
});

it('continues with an expired access token, without anyone noticing', async () => {
	const { apps: connected } = stage.sandbox.service;
	stage.sandbox.signIn.grants.expire(connected.app('app-1'));
	const execution = await run();
	expect(agentSaid(execution)).toContain('pending');
	expect(itemsOf(execution, 'Fetch File')).toHaveLength(1);
	const log = await readFile(join(stage.folder, 'sandbox.log'), 'utf8');
	expect(log).toMatch(/\/token {2}200 {2}refresh_token/);
});

it('is rejected after its app was disconnected', async () => {
	const apps = await editor.page.context().newPage();
	await apps.goto(`${stage.sandbox.url}/connected-apps`);
	await apps.getByRole('button', { name: 'Disconnect' }).click();
	await apps.getByText('None yet').waitFor();
	const execution = await run();
	expect(execution.status).toBe('error');
	expect(errorOf(execution)).toContain('Authentication failed');
	expect(stage.sandbox.books.generations).toHaveLength(2);
});
