/** Runs the examples for agents from their files, with a scripted chat model and the MCP connector. */
import { play, playAgain, readExample } from './support/examples';
import { http } from '../../tools/http';
import { itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Workflow } from '../../tools/n8n/rest';
import { ChatModel } from '../../tools/stand-ins/chat-model';
import type { ChatRequest } from '../../tools/stand-ins/chat-model';
import { Stage } from './support/stage';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.share({ name: 'examples-agents' });
});
afterAll(async () => await stage?.close());
beforeEach(() => stage.sandbox.reset());

/** Returns the last tool response as the chat model receives it. */
function lastAnswer({ messages }: ChatRequest): Array<Record<string, unknown>> {
	const { role, content } = messages[messages.length - 1];
	if (role !== 'tool') throw new Error(`The last message is from: ${role}`);
	return JSON.parse(String(content)) as Array<Record<string, unknown>>;
}

async function importAgent(model: ChatModel): Promise<Workflow> {
	const { rest } = stage;
	const credential = await rest.saveCredential('OpenAI account', 'openAiApi', model.credential);
	return await stage.save(await readExample('ai-agent'), credential);
}

async function say(workflow: Workflow, chatInput: string): Promise<Execution> {
	return await playAgain(stage, workflow, {
		trigger: 'When chat message received',
		json: { sessionId: 'test', action: 'sendMessage', chatInput },
	});
}

async function chat(model: ChatModel, chatInput: string): Promise<Execution> {
	return await say(await importAgent(model), chatInput);
}

describe('ai-agent', () => {
	it('answers with the URL of a generated picture, from the model that the owner chose', async () => {
		const prompt = 'A red fox in a snowy forest';
		const model = await ChatModel.scripted(
			() => ({ tool: 'Create_Picture', args: { prompt, aspect_ratio: '16:9', model: 'dear-1' } }),
			(request) => ({ text: `Here it is: ${String(lastAnswer(request)[0].url)}` }),
		);
		const execution = await chat(model, 'Draw me a fox in a snowy forest, wide format.');
		await model.close();

		const [{ tools, messages }] = model.requests;
		expect(tools?.map(({ function: { name } }) => name).sort()).toEqual([
			'Check_Credits',
			'Collect_Generation',
			'Create_Picture',
			'Start_Video',
		]);
		expect(JSON.stringify(tools)).not.toMatch(/"model"/);
		expect(messages.at(-1)?.content).toContain('Draw me a fox');
		const [made, ...others] = stage.sandbox.books.generations;
		expect(others).toEqual([]);
		expect(made.request).toMatchObject({
			model: 'aurora-image-1',
			prompt,
			parameters: { aspect_ratio: '16:9' },
		});
		const { output } = itemsOf(execution, 'Media Assistant')[0].json;
		const url = String(output).replace('Here it is: ', '');
		const picture = await http.get(url);
		expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/png']);
	});

	it('starts a video without making the chat wait, and collects it when the user asks', async () => {
		const prompt = 'Snow falls around a sleeping fox [seconds: 60]';
		const model = await ChatModel.scripted(
			() => ({ tool: 'Start_Video', args: { prompt, image_url: '' } }),
			(request) => ({ text: `It is being made: ${String(lastAnswer(request)[0].id)}` }),
			() => ({ tool: 'Collect_Generation', args: { id: made().id } }),
			(request) => ({ text: `It is ${String(lastAnswer(request)[0].status)}` }),
			() => ({ tool: 'Collect_Generation', args: { id: made().id } }),
			(request) => ({ text: `Here it is: ${String(lastAnswer(request)[0].url)}` }),
		);
		const made = () => stage.sandbox.books.generations[0];
		const answer = (execution: Execution) =>
			String(itemsOf(execution, 'Media Assistant')[0].json.output);
		const workflow = await importAgent(model);
		const started = await say(workflow, 'And a short video of it sleeping.');
		expect(answer(started)).toContain(made().id);
		// Looking too early ends at once, too.
		const early = await say(workflow, 'Is it ready?');
		expect(answer(early)).toMatch(/It is (pending|processing)/);
		stage.sandbox.service.finish(made().id);
		const done = await say(workflow, 'Is it ready now?');
		await model.close();
		expect(made()).toMatchObject({ state: 'completed', model: 'aurora-motion-1', prompt });
		expect(answer(done)).toContain(`/media-outputs/${made().id}.mp4`);
		expect(stage.sandbox.books.totals.created).toBe(1);
	});

	it('tells the chat model what went wrong', async () => {
		stage.sandbox.service.accounts.setCredits('main', 0);
		const model = await ChatModel.scripted(
			() => ({ tool: 'Create_Picture', args: { prompt: 'A fox' } }),
			({ messages }) => ({ text: `That failed: ${messages.at(-1)?.content}` }),
		);
		const execution = await chat(model, 'Draw a fox.');
		await model.close();
		const { output } = itemsOf(execution, 'Media Assistant')[0].json;
		expect(output).toContain('0 credits left, below your minimum of 100');
		expect(stage.sandbox.books.generations).toEqual([]);
	});

	it('remembers the earlier messages of the same chat', async () => {
		const model = await ChatModel.scripted(
			() => ({ text: 'Hello, Ada.' }),
			() => ({ text: 'Ada.' }),
		);
		const workflow = await importAgent(model);
		await say(workflow, 'My name is Ada.');
		await say(workflow, 'What is my name?');
		await model.close();
		const said = model.requests[1].messages.map(({ content }) => content);
		expect(said).toEqual(expect.arrayContaining(['My name is Ada.', 'Hello, Ada.']));
	});
});

describe('mcp-asset-library', () => {
	it('reaches all six tools, and fetches what it created there', async () => {
		const example = await readExample('mcp-asset-library');
		// Per the note, this is the only thing that a user has to enter.
		const entered = JSON.stringify(example).replace(
			'https://api.example.com/mcp',
			`${stage.sandbox.url}/mcp`,
		);
		const token = { token: stage.sandbox.keys.main };
		const bearer = await stage.rest.saveCredential(
			'Media Generation connector',
			'httpBearerAuth',
			token,
		);
		const entry = JSON.parse(entered) as typeof example;
		const execution = await play(stage, entry, { credentials: [bearer] });
		const answer = (node: string) => {
			const { content } = itemsOf(execution, node)[0].json as {
				content: Array<{ text: Record<string, unknown> }>;
			};
			return content[0].text;
		};

		const [made, ...others] = stage.sandbox.books.generations;
		expect(others).toEqual([]);
		expect(made.prompt).toBe('A brass key on green velvet, macro photograph');
		expect(answer('Balance')).toMatchObject({ object: 'credit_balance', balance: 100_000 });
		expect(answer('Image Models').data).toHaveLength(7);
		expect(answer('Create')).toMatchObject({ id: made.id, status: 'pending' });
		expect(answer('Check')).toMatchObject({ id: made.id });
		expect(answer('Details')).toMatchObject({ prompt: made.prompt, credits_charged: 8 });
		const [fetched] = itemsOf(execution, 'Fetch File');
		const file = fetched.binary?.data;
		if (!file) throw new Error('The item has no file.');
		const bytes = await stage.executions.download(file);
		expect(bytes.subarray(1, 4).toString()).toBe('PNG');
		expect(itemsOf(execution, 'Split Library').map(({ json }) => json.id)).toEqual([made.id]);
	});
});
