/** Runs the examples of everyday jobs from their files in a real n8n, as their users would. */
import { button, play, playAgain, readExample } from './support/examples';
import { DataTable } from './support/data-table';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode } from './support/workflows';
import { getBytes, http } from '../../tools/http';
import { itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Workflow } from '../../tools/n8n/rest';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.share({ name: 'examples-everyday' });
});
afterAll(async () => await stage?.close());
beforeEach(() => stage.sandbox.reset());

/** Returns the URLs of the images and videos of a page. */
function mediaOf(page: unknown): string[] {
	const found = String(page).matchAll(/<(?:img|video)[^>]* src="([^"]+)"/g);
	return [...found].map(([, url]) => url.replaceAll('&amp;', '&'));
}

/** Checks that each URL serves a PNG picture. */
async function expectPictures(urls: string[], count: number): Promise<void> {
	expect(urls).toHaveLength(count);
	for (const url of urls) {
		const { data } = await getBytes(url);
		expect(data.subarray(1, 4).toString('latin1')).toBe('PNG');
	}
}

/** Returns a node of n8n. */
function n8nNode(name: string, type: string, typeVersion: number, parameters: object): object {
	return {
		id: name,
		name,
		type: `n8n-nodes-base.${type}`,
		typeVersion,
		position: [0, 0],
		parameters,
	};
}

/** Imports and publishes an example. */
async function publish(name: string, settings: object = {}): Promise<Workflow> {
	const example = await readExample(name);
	const file = { ...example, settings: { ...(example.settings as object), ...settings } };
	const workflow = await stage.save(file);
	const { id, versionId } = workflow;
	await stage.rest.send('POST', `/workflows/${id}/activate`, { versionId });
	return workflow;
}

describe('carousel-of-four', () => {
	it('returns one item with the four pictures and the caption, ready for one post', async () => {
		const execution = await play(stage, await readExample('carousel-of-four'));
		const [post, ...others] = itemsOf(execution, 'One Post');
		expect(others).toEqual([]);
		const files = Object.values(post.binary ?? {});
		expect(files.map(({ mimeType }) => mimeType)).toEqual(Array(4).fill('image/png'));
		const contents = await Promise.all(files.map(async (file) => stage.executions.download(file)));
		expect(new Set(contents.map((bytes) => bytes.toString('base64'))).size).toBe(4);
		const [{ json, binary }] = itemsOf(execution, 'Ready to Post');
		expect(binary).toEqual(post.binary);
		expect(json).toMatchObject({ caption: expect.stringMatching(/\w/), pictures: 4 });
	});

	it('gives each of several rows its own caption, in a loop as its note says', async () => {
		const example = await readExample('carousel-of-four');
		const posts = ['A bowl', 'A vase'].map((prompt) => ({ prompt, caption: `${prompt} of ours` }));
		const to = (node: string) => [{ node, type: 'main', index: 0 }];
		const nodes = (example.nodes as Array<{ name: string }>).filter(({ name }) => name !== 'Post');
		const file = {
			...example,
			nodes: [
				...nodes,
				n8nNode('Rows', 'set', 3.4, { mode: 'raw', jsonOutput: JSON.stringify({ posts }) }),
				n8nNode('Post', 'splitOut', 1, { fieldToSplitOut: 'posts' }),
				n8nNode('Loop Over Items', 'splitInBatches', 3, {}),
			],
			connections: {
				...example.connections,
				[button]: { main: [to('Rows')] },
				Rows: { main: [to('Post')] },
				Post: { main: [to('Loop Over Items')] },
				'Loop Over Items': { main: [[], to('Create Four Pictures')] },
				'Ready to Post': { main: [to('Loop Over Items')] },
			},
		};
		const { data } = await play(stage, file);
		const runs = data.resultData.runData['Ready to Post'];
		const captions = runs.map((run) => run.data?.main[0]?.[0].json.caption);
		expect(captions).toEqual(posts.map(({ caption }) => caption));
	});
});

describe('three-models-gallery', () => {
	const models = ['aurora-image-1', 'inkwell-draw-3', 'lumen-turbo'];

	it('shows a picture of each model on one page, with the ID to choose it by', async () => {
		const execution = await play(stage, await readExample('three-models-gallery'));
		const [{ json }, ...others] = itemsOf(execution, 'Gallery');
		expect(others).toEqual([]);
		await expectPictures(mediaOf(json.html), 3);
		const { generations } = stage.sandbox.books;
		expect(generations.map(({ model }) => model).sort()).toEqual(models);
		for (const { model, id } of generations) {
			expect(json.html).toContain(model);
			expect(json.html).toContain(id);
		}
	});

	it('shows the reason in place of a picture that failed', async () => {
		const action = { kind: 'fail', reason: 'Out of ink <b>' } as const;
		stage.sandbox.faults.order({ on: 'create', match: { promptIncludes: 'fox' }, action });
		const execution = await play(stage, await readExample('three-models-gallery'));
		const [{ json }] = itemsOf(execution, 'Gallery');
		expect(mediaOf(json.html)).toHaveLength(2);
		expect(json.html).toContain('Out of ink');
		expect(json.html).not.toContain('Out of ink <b>');
	});
});

describe('approve-before-posting', () => {
	/** Fills in the first form, and returns the address of the page that shows the picture. */
	async function order(workflow: Workflow, topic: string): Promise<string> {
		const nodes = workflow.nodes as Array<{ type: string; webhookId?: string }>;
		const { webhookId } = nodes.find(({ type }) => type.endsWith('.formTrigger')) ?? {};
		const url = `${stage.n8n.url}/form/${webhookId}`;
		await until('the form is there', async () => (await http.get(url)).status === 200);
		const form = new FormData();
		form.set('field-0', topic);
		const { data } = await http.post<{ formWaitingUrl: string }>(url, form);
		return data.formWaitingUrl;
	}

	/** Opens the page once the picture is ready, and returns the URL of the picture. */
	async function look(page: string): Promise<string> {
		// The form polls this address before it opens the page. The page itself does not answer before then.
		const status = new URL(page);
		status.pathname += '/n8n-execution-status';
		const isReady = async () => (await http.get(status.href)).data === 'form-waiting';
		await until('the page is ready', isReady);
		const urls = mediaOf((await http.get(page)).data);
		await expectPictures(urls, 1);
		return urls[0];
	}

	async function decide(workflow: Workflow, answer: string): Promise<[string, Execution]> {
		const page = await order(workflow, 'A lighthouse made of paper');
		const shown = await look(page);
		const form = new FormData();
		form.set('field-1', answer);
		expect((await http.post(page, form)).status).toBe(200);
		const [id] = await stage.executions.idsOf(workflow.id);
		// The last page of the form sends this by itself, and so ends the execution.
		await stage.executions.asleep(id);
		await http.post(page);
		return [shown, await stage.executions.ended(id)];
	}

	it('fetches the picture again after it is approved, at no charge, and posts nothing otherwise', async () => {
		const workflow = await publish('approve-before-posting');
		const [shown, approved] = await decide(workflow, 'Post it');
		const [{ binary }] = itemsOf(approved, 'Fetch Picture Again');
		const file = binary?.data;
		if (!file) throw new Error('There is no file.');
		const { data } = await getBytes(shown);
		expect((await stage.executions.download(file)).equals(data)).toBe(true);
		expect(stage.sandbox.books.totals.created).toBe(1);
		expect(stage.sandbox.books.generations[0].request.prompt).toContain(
			'A lighthouse made of paper',
		);

		const [, rejected] = await decide(workflow, 'Do not post it');
		expect(rejected.data.resultData.runData).not.toHaveProperty(['Fetch Picture Again']);
		expect(stage.sandbox.books.totals.created).toBe(2);
	});
});

describe('monthly-credits-report', () => {
	it('shows the balance, and what each type and model has cost in 30 days', async () => {
		await play(stage, await readExample('three-models-gallery'));
		const workflow = await stage.save(await readExample('monthly-credits-report'));
		const { balance } = stage.sandbox.service.accounts.account('main');
		for (const trigger of [button, 'First of the Month']) {
			const execution = await playAgain(stage, workflow, { trigger });
			const [{ json }] = itemsOf(execution, 'Report');
			const text = String(json.html)
				.replace(/<[^>]+>|\s+/g, ' ')
				.replace(/ +/g, ' ');
			expect(text).toContain(`${balance.toLocaleString('en-US')} credits left`);
			expect(text).toContain('14 credits used');
			expect(text).toContain('image 14');
			expect(text).toMatch(/aurora-image-1 8 .*inkwell-draw-3 5 .*lumen-turbo 1 /);
		}
	});
});

describe('batch-status-page', () => {
	/** Opens the page of the published workflow. */
	async function open(): Promise<string> {
		const { status, data, headers } = await http.get<string>(
			`${stage.n8n.url}/webhook/batch-status`,
		);
		expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
		return data;
	}

	it('says that there is nothing yet, and then shows the counts and the newest pictures of a batch', async () => {
		const timezone = 'Asia/Tokyo';
		const shown = await publish('batch-status-page', { timezone });
		const url = `${stage.n8n.url}/webhook/batch-status`;
		await until('the webhook listens', async () => (await http.get(url)).status !== 404);
		expect(await open()).toContain('No rows yet');

		const action = { kind: 'fail', reason: 'Out of paint' } as const;
		stage.sandbox.faults.order({ on: 'create', match: { promptIncludes: 'broken' }, action });
		const prompts = ['first <i>boat', 'broken boat', 'last boat'];
		const node = imageNode({ idempotencyKey: '={{ $json.prompt }}', maxConcurrent: 1 });
		const batch = byHand('Boats', prompts, { ...node, onError: 'continueRegularOutput' });
		await playAgain(stage, await stage.save(batch), { trigger: 'Start' });

		const page = await open();
		const text = page.replace(/<[^>]+>|\s+/g, ' ').replace(/ +/g, ' ');
		expect(text).toMatch(/2 completed .* 1 failed /);
		// The times are in the zone of the workflow.
		const rows = await (await DataTable.of(stage.rest)).rows();
		expect(rows).toHaveLength(3);
		for (const { createdAt } of rows) {
			const there = new Date(Date.parse(String(createdAt)) + 9 * 3_600_000).toISOString();
			expect(text).toContain(`, ${there.slice(0, 16).replace('T', ' ')}`);
		}
		await expectPictures(mediaOf(page), 2);
		expect(page).not.toContain('<i>boat');
		expect(text.indexOf('last boat')).toBeLessThan(text.indexOf('first boat'));
		// The table holds no URLs: the page asks for them each time.
		await expectPictures(mediaOf(await open()), 2);
		expect(stage.sandbox.books.totals.created).toBe(3);
		expect(await (await DataTable.of(stage.rest)).rows()).toHaveLength(3);
		// The page reloads itself all day: its executions are not kept.
		await until('n8n kept none', async () => {
			return (await stage.executions.idsOf(shown.id)).length === 0;
		});
	});
});
