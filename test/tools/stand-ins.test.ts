/** The stand-ins of `npm start`, as n8n and a person meet them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { http } from '../../tools/http';
import { openStandIns } from '../../tools/stand-ins';
import { assist } from '../../tools/stand-ins/assistant';
import type { ChatMessage } from '../../tools/stand-ins/chat-model';

const says = (role: ChatMessage['role'], content: string): ChatMessage => ({ role, content });
const withTools = (...names: string[]) =>
	names.map((name) => ({ function: { name, description: '', parameters: {} } }));

describe('the chat model', () => {
	const tools = withTools('Create_Picture', 'Start_Video', 'Collect_Generation', 'Check_Credits');
	const turn = (...messages: ChatMessage[]) => assist({ model: 'any', messages, tools });

	it('draws the requested picture, and answers with the URL', () => {
		const wish = says('user', 'Draw me a fox in a snowy forest, wide format.');
		expect(turn(says('system', 'You create pictures.'), wish)).toEqual({
			tool: 'Create_Picture',
			args: { prompt: wish.content, aspect_ratio: '16:9' },
		});
		const answer = says('tool', '[{"id":"g1","url":"https://storage.example.com/a.png?X=1"}]');
		expect(turn(wish, says('assistant', ''), answer)).toEqual({
			text: 'Here it is: ![](https://storage.example.com/a.png?X=1)',
		});
	});

	it('starts a video without waiting for it, and collects it when the user asks', () => {
		const id = '7f9c24aa-0000-4000-8000-1234567890ab';
		const wish = says('user', 'And a short video of it sleeping.');
		expect(turn(wish)).toMatchObject({ tool: 'Start_Video' });
		const started = says('tool', `[{"id":"${id}","status":"pending","url":"https://x/a.mp4"}]`);
		const { text = '' } = turn(wish, says('assistant', ''), started) as { text?: string };
		expect(text).toContain(id);
		expect(text).not.toContain('https://');
		const later = says('user', 'Is it ready?');
		const chat = [wish, says('assistant', text), later];
		expect(turn(...chat)).toEqual({ tool: 'Collect_Generation', args: { id } });
		const made = says('tool', `[{"id":"${id}","status":"completed","url":"https://x/a.mp4"}]`);
		expect(turn(...chat, made)).toEqual({
			text: 'Here it is: [Watch the video](https://x/a.mp4)',
		});
	});

	it('creates once, regardless of earlier messages, and reports an error instead of retrying', () => {
		const before = [says('user', 'Draw a cat'), says('tool', '[{"url":"http://x/cat.png"}]')];
		const wish = says('user', 'Draw a dog');
		expect(turn(...before, wish)).toMatchObject({ args: { prompt: 'Draw a dog' } });
		const failed = says('tool', '[{"error":"Not enough credits: 8 needed, 0 left"}]');
		expect(turn(wish, failed)).toEqual({ text: expect.stringContaining('8 needed, 0 left') });
	});

	it('chooses a model from the list if the tools are those of the connector', () => {
		const connector = withTools('Connector_list_models', 'Connector_create_generation');
		const wish = says('user', 'A square picture of a brass key');
		const models = says(
			'tool',
			'[{"response":[{"text":"{\\"data\\":[{\\"id\\":\\"aurora-1\\"}]}"}]}]',
		);
		const messages = [wish, says('assistant', ''), models];
		expect(assist({ model: 'any', messages, tools: connector })).toEqual({
			tool: 'Connector_create_generation',
			args: { type: 'image', model: 'aurora-1', prompt: wish.content },
		});
	});
});

it('passes n8n’s tests of the credentials, and keeps its objects for the next start', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'stand-ins-'));
	const first = await openStandIns(folder);
	const dataOf = (type: string) =>
		first.accounts.find((account) => account.type === type)?.data as Record<string, string>;
	const { url } = dataOf('openAiApi');
	expect((await http.get(`${url}/models`)).status).toBe(200);
	const { baseUrl, accessToken } = dataOf('telegramApi');
	expect((await http.get(`${baseUrl}/bot${accessToken}/getMe`)).data).toMatchObject({ ok: true });
	const bucket = `${dataOf('s3').endpoint}/media`;
	expect((await http.get(bucket)).status).toBe(200);
	await first.close();
	await rm(folder, { recursive: true });
});
