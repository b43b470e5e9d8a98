/** The example for n8n's MCP Server Trigger, called by a real MCP client that gives up after 60 seconds. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { http } from '../../tools/http';
import { readExample } from './support/examples';
import { Stage } from './support/stage';
import { until } from './support/until';

const token = 'a-long-random-token';
let stage: Stage;
let client: Client;
let url: string;

beforeAll(async () => {
	// In real time: a video of 90 seconds takes longer than the client waits.
	stage = await Stage.open({ name: 'mcp-server', sandbox: { timeScale: 1 } });
	const bearer = await stage.rest.saveCredential('MCP clients', 'httpBearerAuth', { token });
	const { id, versionId } = await stage.save(await readExample('mcp-server'), bearer);
	await stage.rest.send('POST', `/workflows/${id}/activate`, { versionId });
	url = `${stage.n8n.url}/mcp/media-generation`;
	await until('the trigger listens', async () => (await http.get(url)).status !== 404);
	client = new Client({ name: 'test', version: '1' });
	const headers = { authorization: `Bearer ${token}` };
	const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
	await client.connect(transport);
});
afterAll(async () => {
	await client?.close();
	await stage?.close();
});

/** Calls a tool, with the SDK's own limit of 60 seconds. */
async function call(name: string, args: Record<string, unknown>) {
	const { content, isError } = await client.callTool({ name, arguments: args });
	const [{ text }] = content as Array<{ text: string }>;
	const answer = JSON.parse(text) as unknown;
	return { isError, answer: [answer].flat()[0] as Record<string, unknown>, text };
}

it('has all five tools, and says how to wait for a video', async () => {
	const { tools } = await client.listTools();
	expect(tools.map(({ name }) => name).sort()).toEqual([
		'Generation_Credits',
		'Generation_Models',
		'Image_Generation',
		'Video_Generation',
		'Wait_for_Completion',
	]);
	const video = tools.find(({ name }) => name === 'Video_Generation');
	expect(video?.description).toContain('If timed_out is true');
	expect(video?.description).toContain('call Wait for Completion with the ID');
});

it('refuses a client without the token', async () => {
	expect((await http.post(url, {})).status).toBe(403);
});

it('a video of 90 seconds is charged once, and its file comes in the end', async () => {
	const wish = {
		...{ prompt: 'A harbor at dawn [seconds: 90]', key: 'harbor-video-1', image_url: '' },
	};
	const started = Date.now();
	const first = await call('Video_Generation', wish);
	expect(Date.now() - started).toBeLessThan(60_000);
	const { id } = first.answer;
	expect(first.answer).toMatchObject({
		timed_out: true,
		url: expect.stringMatching(/^http/) as string,
	});
	// An agent that was given up on asks again.
	const [again, waited] = await Promise.all([
		call('Video_Generation', wish),
		call('Wait_for_Completion', { id }),
	]);
	expect(again.answer.id).toBe(id);
	const end =
		waited.answer.status === 'completed' ? waited : await call('Wait_for_Completion', { id });
	expect(end.answer).toMatchObject({ id, status: 'completed', timed_out: false });
	const file = await http.get(String(end.answer.url), { responseType: 'arraybuffer' });
	expect([file.status, file.headers['content-type']]).toEqual([200, 'video/mp4']);
	expect(stage.sandbox.books.totals).toMatchObject({ created: 1, completed: 1 });
	expect(JSON.stringify([first, again, end])).not.toContain('binary');
});
