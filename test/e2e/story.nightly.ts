/**
 * One sitting of a person who has a table with twelve rows: pictures, a gallery, a video from the picture they choose, and
 * what it cost. It plays under what `npm start -- --https` starts.
 */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getBytes } from '../../tools/http';
import { freePorts } from '../../tools/n8n/ports';
import { Rest } from '../../tools/n8n/rest';
import type { Workflow, WorkflowFile } from '../../tools/n8n/rest';
import { credentialName } from '../../tools/start/seed';
import { start } from '../../tools/start/start';
import type { Started } from '../../tools/start/start';
import { Editor } from './support/browser';
import { DataTable } from './support/data-table';
import { readExample } from './support/examples';
import { owner } from './support/stage';
import { outputFolder, repository } from './support/surroundings';
import { until } from './support/until';
import { sizeOfPicture } from './support/viewed-media';

const cities = [
	...['Athens', 'Bergen', 'Cairo', 'Dublin', 'Essen', 'Florence'],
	...['Geneva', 'Havana', 'Istanbul', 'Jakarta', 'Kyoto', 'Lisbon'],
];
const chosen = 'Kyoto';
const promptOf = (city: string) => `A postcard of ${city} at dusk, flat poster style`;
const posters = cities.map(promptOf);
const film = `The lights of ${chosen} go on, one after the other`;
const table = 'postcards';

/** In credits: the sandbox asks 8 for a picture of this model, and 10 for a second of this video at 720p. */
const price = { pictures: 12 * 8, video: 4 * 10 };

let data: string;
let started: Started;
let rest: Rest;
let editor: Editor;
let workflow: Workflow;
let balanceAtFirst: number;

beforeAll(async () => {
	const folder = outputFolder('story');
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	data = await mkdtemp(join(tmpdir(), 'media-generation-'));
	// Another test file starts it with the usual ports.
	const [port, sandboxPort, storagePort] = await freePorts(3);
	const options = { data, timeScale: 20, https: true, port, sandboxPort, storagePort };
	started = await start(repository, options, () => {}, new AbortController().signal);
	rest = new Rest(started.n8n.url);
	await rest.signIn(owner);
	editor = await Editor.open(started.n8n.url, owner, folder);
	balanceAtFirst = balance();
});
afterAll(async () => {
	await editor?.close();
	await started?.stop();
	if (data) await rm(data, { recursive: true, force: true });
});

const books = () => started.sandbox.books;
const balance = () => started.sandbox.service.accounts.account('main').balance;
const output = () => editor.part('output-panel');

/** What the service has been asked to create, and what it has charged. */
function spent() {
	const { created, charged, refunded } = books().totals;
	const asked = started.sandbox.requests.all.filter(
		({ method, path }) => method === 'POST' && path.endsWith('/generations'),
	);
	return { created, credits: charged - refunded, balance: balance(), asked: asked.length };
}

/** The pictures that an HTML page of n8n shows, in its output. */
const gallery = () => output().locator('iframe').contentFrame();

/** Runs the whole workflow in the editor, opens a node, and waits for its hint about this run. */
async function runAndRead(nodes: number, node: string, ...hints: string[]): Promise<void> {
	await editor.execute(nodes);
	await editor.openNode(node);
	for (const hint of hints) await output().getByText(hint).waitFor();
}

/** Opens the gallery, and returns the IDs below its pictures, in its order. */
async function openGallery(): Promise<string[]> {
	await editor.openNode('Gallery');
	await gallery().locator('figcaption').last().waitFor();
	const captions = await gallery().locator('figcaption').allInnerTexts();
	return captions.map((caption) => caption.split('\n')[1]);
}

/** Duplicates the open workflow. Returns the ID of the copy, which n8n opens in a window of its own. */
async function duplicate(): Promise<string> {
	await editor.part('workflow-menu').click();
	await editor.part('workflow-menu-item-duplicate').click();
	const button = editor.part('duplicate-modal').getByRole('button', { name: 'Duplicate' });
	const press = async () => {
		const opened = editor.page.context().waitForEvent('page', { timeout: 40_000 });
		await button.click();
		return await opened.catch(() => null);
	};
	// On a busy machine, a click may come before the dialog listens.
	const copy = (await press()) ?? (await press());
	if (copy === null) throw new Error('n8n opened no copy of the workflow.');
	await copy.waitForURL(/\/workflow\/(?!new)/);
	const [, id] = /\/workflow\/([^/?]+)/.exec(copy.url()) ?? [];
	await copy.close();
	return id;
}

const ownType = (name: string) => `n8n-nodes-media-generation.${name}`;
const credentials = { mediaGenerationApi: { id: null, name: credentialName } };
const named = (name: string, type: string, typeVersion: number, parameters: object) => {
	const ours = type.startsWith(ownType('')) && { credentials };
	return { id: name, name, type, typeVersion, parameters, ...ours };
};
const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/**
 * The person's workflow: the rows become pictures, which the gallery of an example shows side by side. What passes
 * _Chosen_ becomes a video. Nothing passes it until a name is in it.
 */
async function postcards(): Promise<WorkflowFile> {
	const example = await readExample('three-models-gallery');
	const pages = (example.nodes as Array<{ name: string }>).slice(-3);
	const key = { idempotencyKey: '={{ $json.name }}', keyScope: 'postcards of cities' };
	const condition = {
		...{ id: 'name', leftValue: '={{ $json.name }}', rightValue: '' },
		operator: { type: 'string', operation: 'equals' },
	};
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 };
	const nodes = [
		named('Start', 'n8n-nodes-base.manualTrigger', 1, {}),
		named('Rows', 'n8n-nodes-base.dataTable', 1.1, {
			...{ operation: 'get', returnAll: true },
			dataTableId: { __rl: true, mode: 'name', value: table },
		}),
		named('Create Pictures', ownType('imageGeneration'), 1, {
			...{ model: byId('aurora-image-1'), prompt: '={{ $json.prompt }}' },
			options: { ...key, includeOtherFields: true, size: '640x400' },
		}),
		...pages,
		named('Chosen', 'n8n-nodes-base.filter', 2.2, {
			conditions: { options, conditions: [condition], combinator: 'and' },
		}),
		named('Animate', ownType('videoGeneration'), 1, {
			...{ model: byId('aurora-motion-1'), prompt: film },
			options: { ...key, includeOtherFields: true, generationField: 'video' },
		}),
	];
	const { Card, 'All Cards': cards } = example.connections as Record<string, object>;
	const to = (...names: string[]) => ({
		main: [names.map((node) => ({ node, type: 'main', index: 0 }))],
	});
	const connections = {
		...{ Start: to('Rows'), Rows: to('Create Pictures') },
		...{ 'Create Pictures': to('Card', 'Chosen'), Card, 'All Cards': cards },
		Chosen: to('Animate'),
	};
	const places = nodes.map((node, index) => ({
		...node,
		position: index < 6 ? [index * 208, 0] : [(index - 3) * 208, 208],
	}));
	// The example knows its prompt and its models by name.
	const text = JSON.stringify(places)
		.replace("$('Prompt and Models').first().json.prompt.removeTags()", "'Postcards'")
		.replace('$json.model', '$json.name');
	return { name: 'Postcards', nodes: JSON.parse(text) as unknown[], connections, settings: {} };
}

describe('a person with twelve rows in a table', () => {
	it('has twelve rows in a table', async () => {
		const rows = await DataTable.of(rest, table);
		await rows.make(table, ['name', 'prompt']);
		const lines = cities.map((city) => `${city},"${promptOf(city)}"`);
		await rows.importCsv(['name,prompt', ...lines].join('\n'));
		await editor.page.goto(`${started.n8n.url}${await rows.page()}`);
		await editor.part('data-table-grid').getByText(promptOf('Lisbon')).waitFor();
		await editor.shoot('1-rows');
	});

	it('gets twelve pictures for them', async () => {
		const own = await rest.send<Array<{ id: string; name: string; type: string }>>(
			'GET',
			'/credentials',
		);
		workflow = await rest.createWorkflow(await postcards(), ...own);
		await editor.openWorkflow(workflow.id);
		await runAndRead(6, 'Create Pictures', '12 of 12 ready.', `about ${price.pictures} credits`);
		await editor.shoot('2-pictures');
		expect(spent()).toEqual({
			...{ created: 12, credits: price.pictures, asked: 12 },
			balance: balanceAtFirst - price.pictures,
		});
		expect(posters.map((poster) => books().liveChargesFor(poster))).toEqual(cities.map(() => 1));
	});

	it('sees them side by side in a gallery, with their names and IDs', async () => {
		await editor.closeNode();
		const ids = await openGallery();
		const pictures = await gallery().locator('img').all();
		const sizes = pictures.map(async (picture) => await picture.evaluate(sizeOfPicture));
		expect(await Promise.all(sizes)).toEqual(cities.map(() => [640, 400]));
		const names = await gallery().locator('figcaption strong').allInnerTexts();
		expect(names).toEqual(cities);
		const idOf = (poster: string) =>
			books().generations.find(({ prompt }) => prompt === poster)?.id;
		expect(ids).toEqual(posters.map(idOf));
		await editor.shoot('3-gallery');
		await editor.closeNode();
	});

	it('gets the one they choose as a video from its file, and pays for the video only', async () => {
		await editor.openNode('Chosen');
		await editor.part('filter-condition-right').locator('input').fill(chosen);
		// n8n takes over what was typed after a moment, and then saves it.
		const saved = async () => JSON.stringify(await rest.send('GET', `/workflows/${workflow.id}`));
		await until('the name is saved', async () => (await saved()).includes(`"${chosen}"`));
		await editor.shoot('4-chosen');
		await editor.closeNode();
		await editor.openNode('Animate');
		await editor.choose('imageSource', /^Binary Field/);
		await editor.field('imageBinaryField').waitFor();
		await editor.shoot('5-video-from-file');
		await editor.closeNode();
		await runAndRead(8, 'Animate', '1 of 1 ready.');
		expect(await editor.viewVideo()).toEqual([1152, 720, 4]);
		await editor.shoot('6-video');
		await editor.closeNode();

		const credits = price.pictures + price.video;
		expect(spent()).toEqual({
			...{ created: 13, credits, asked: 13 },
			balance: balanceAtFirst - credits,
		});
		const [picture] = books().generations.filter(({ prompt }) => prompt === promptOf(chosen));
		const { data: file } = await getBytes(started.sandbox.service.outputUrl(picture.id) ?? '');
		const sha256 = createHash('sha256').update(file).digest('hex');
		const video = books().generations.find(({ prompt }) => prompt === film);
		expect(video?.fetched).toMatchObject([{ name: 'image_url', status: 200, sha256 }]);
		expect(String(video?.request.image_url).startsWith(String(started.https))).toBe(true);
	});

	it('runs it again, which costs nothing', async () => {
		const before = spent();
		await runAndRead(8, 'Create Pictures', '12 of 12 ready. 12 reused, no charge.');
		await editor.shoot('7-again');
		await editor.closeNode();
		await editor.openNode('Animate');
		await output().getByText('1 of 1 ready. 1 reused, no charge.').waitFor();
		expect(await editor.viewVideo()).toEqual([1152, 720, 4]);
		await editor.closeNode();
		expect(spent()).toEqual(before);
	});

	it('copies the workflow, which costs nothing either, because its keys have a scope', async () => {
		const before = spent();
		const ids = await openGallery();
		await editor.closeNode();
		const copy = await rest.send<Workflow>('GET', `/workflows/${await duplicate()}`);
		const idsOf = ({ nodes }: Workflow) => (nodes as Array<{ id: string }>).map(({ id }) => id);
		expect(copy.id).not.toBe(workflow.id);
		expect(idsOf(copy).filter((id) => idsOf(workflow).includes(id))).toEqual([]);

		await editor.openWorkflow(copy.id);
		await runAndRead(8, 'Create Pictures', '12 of 12 ready. 12 reused, no charge.');
		await editor.shoot('8-copy');
		await editor.closeNode();
		await editor.openNode('Animate');
		await output().getByText('1 of 1 ready. 1 reused, no charge.').waitFor();
		await editor.closeNode();
		expect(await openGallery()).toEqual(ids);
		expect(spent()).toEqual(before);
		await editor.closeNode();
	});

	it('sees the credits that it took', async () => {
		await editor.openWorkflow();
		await editor.add('credits', 'Generation Credits', 'Get the summary');
		await editor.part('node-execute-button').click();
		await output().getByText('by_model').first().waitFor();
		await output().getByTestId('radio-button-json').click();
		const json = output().locator('.vjs-tree');
		await json.waitFor();
		const shown = (await json.innerText()).replace(/\s+/g, '');
		expect(shown).toContain(`"period_used":${price.pictures + price.video}`);
		expect(shown).toContain(`"image":${price.pictures}`);
		expect(shown).toContain(`"video":${price.video}`);
		expect(shown).toContain(`"balance":${balanceAtFirst - price.pictures - price.video}`);
		await editor.shoot('9-credits');
	});
});
