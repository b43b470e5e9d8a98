/**
 * A user's path in n8n's editor, from the first picture to a suspended video. The README's screenshots come from here.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Credential } from '../../tools/n8n/rest';
import { Editor } from './support/browser';
import { DataTable } from './support/data-table';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, promptsNamed, small } from './support/workflows';

const picture = 'A poster for our hiking shop: hills at dusk, a low orange sun, flat style';
const video = 'A small lantern floats slowly across the evening sky above the hills';
const videoKey = 'lantern-video';
const cities = [
	...['Athens', 'Bergen', 'Cairo', 'Dublin', 'Essen', 'Florence'],
	...['Geneva', 'Havana', 'Istanbul', 'Jakarta', 'Kyoto', 'Lisbon'],
];
const failing = cities.indexOf('Dublin');
const posters = cities.map((city) => `A travel poster of ${city}`);
const keys = cities.map((city) => `poster-${city}`);
const banners = promptsNamed('Banner', cities.length);

/** Longer than a step stays awake, which is for whatever is due within about 40 s: it sleeps within a minute. */
const videoSeconds = 150;
/** The test itself ends the banners, after it has stopped their step. */
const bannerSeconds = 3600;
/** A step that continues after that sends its next request sooner. */
const nextRequestMs = 15_000;

let stage: Stage;
let editor: Editor;
/** The workflow of the video, which stays suspended during the other chapters. */
let sleeper: string;

beforeAll(async () => {
	const generationSeconds = ({ prompt }: { prompt: string }) => {
		if (prompt === video) return videoSeconds;
		return prompt.startsWith('Banner') ? bannerSeconds : 3;
	};
	stage = await Stage.share({
		name: 'browser-story',
		sandbox: { timeScale: 1, generationSeconds },
	});
	editor = await Editor.open(stage.n8n.url, stage.user, stage.folder);
	// In the first chapter, the user creates it.
	await stage.rest.send('DELETE', `/credentials/${stage.credential.id}`);
});
afterAll(async () => {
	await editor?.close();
	await stage?.close();
});

const books = () => stage.sandbox.books;
const charges = (prompts: string[]) => prompts.map((prompt) => books().liveChargesFor(prompt));
const output = () => editor.part('output-panel');

/** Opens a workflow whose Image Generation node has only a model, a prompt and these run options. */
async function openBatch(name: string, prompts: string[], runOptions = {}): Promise<void> {
	const { parameters, ...node } = imageNode();
	const { model, prompt } = parameters;
	const step = { ...node, parameters: small({ model, prompt, runOptions }) };
	await editor.openWorkflow((await stage.save(byHand(name, prompts, step))).id);
}

/** Returns the cells of the output table, row by row. */
async function outputRows(): Promise<string[][]> {
	await output().getByTestId('radio-button-table').click();
	const rows = output().locator('tbody tr');
	await rows.first().waitFor();
	return (await rows.allInnerTexts()).map((row) => row.split('\t'));
}

/** Runs the batch on the canvas and opens its node, which shows a hint about this run. */
async function runBatch(hint: string): Promise<void> {
	await editor.execute(4);
	await editor.openNode('Images');
	await output().getByText(hint).waitFor();
	await output().getByText(`${cities.length} items`).waitFor();
}

describe('a user of n8n', () => {
	it('sees the first picture, after creating a credential and choosing a model', async () => {
		await editor.openWorkflow();
		await editor.add('text to image', 'Image Generation');
		await editor.part('node-credentials-empty-state').click();
		const dialog = editor.part('editCredential-modal');
		await editor.field('baseUrl').locator('input').fill(stage.sandbox.url);
		await editor.field('apiKey').locator('input').fill(stage.sandbox.keys.main);
		await editor.part('credential-save-button').click();
		// n8n closes the form of a new credential if its test succeeds.
		await dialog.waitFor({ state: 'hidden' });
		await editor.part('credential-edit-button').click();
		await dialog.getByText('Connection tested successfully').waitFor();
		await editor.shootForReadme('credential', dialog);
		await dialog.getByRole('button', { name: /close/i }).first().click();
		await dialog.waitFor({ state: 'hidden' });
		[stage.credential] = await stage.rest.send<Credential[]>('GET', '/credentials');

		const models = await editor.openModels();
		expect(await models.count()).toBe(7);
		await editor.shootForReadme('model-picker', editor.part('ndv'));
		await models.getByText(/^Aurora Image 1 · /).click();
		expect(await editor.part('rlc-input').inputValue()).toMatch(
			/^Aurora Image 1 · takes about [\d.]+ s · /,
		);
		await editor.field('prompt').locator('textarea').fill(picture);
		expect(books().totals.created).toBe(0);
		await editor.part('node-execute-button').click();
		expect(await editor.viewPicture()).toEqual([1024, 1024]);
		await editor.shootForReadme('picture', editor.part('ndv'));
		expect(books().generations).toMatchObject([{ prompt: picture, model: 'aurora-image-1' }]);
		expect(charges([picture])).toEqual([1]);
	});

	// n8n resumes executions once a minute, and the video takes longer: it stays suspended during the next chapters.
	it('suspends a video and sees its execution waiting', async () => {
		await editor.openWorkflow();
		await editor.add('text to video', 'Video Generation');
		await (await editor.openModels()).first().click();
		await editor.field('prompt').locator('textarea').fill(video);
		await editor.addTo('Option', 'Idempotency Key');
		await editor.field('idempotencyKey').locator('input').fill(videoKey);
		await editor.addTo('Run Option', 'Sleep During Long Batches');
		await editor.choose('whileWaiting', /^Yes/);
		await editor.closeNode();
		await editor.part('execute-workflow-button').click();
		await until('the video is submitted', () => books().liveChargesFor(video) === 1);
		sleeper = editor.page.url().replace(/\?.*/, '');
		await openExecutions();
		await ownExecution().getByText('Waiting').waitFor();
		await editor.shoot('asleep');
	});

	it('runs a batch of twelve, one of which fails', async () => {
		stage.sandbox.faults.order({
			on: 'create',
			match: { promptIncludes: cities[failing] },
			action: { kind: 'fail', reason: 'Out of paint' },
		});
		await openBatch('Posters', posters);
		await editor.openNode('Images');
		await editor.addTo('Option', 'Idempotency Key');
		await editor.enterExpression('idempotencyKey', 'poster-{{ $json.prompt.split(" ").last() }}');
		await editor.part('ndv').getByText('Settings', { exact: true }).click();
		await editor.choose('onError', /^Continue Pass/);
		await editor.closeNode();

		const which = `item ${failing + 1} of 12`;
		await runBatch(
			`11 of 12 ready. 1 failed and was refunded (${which}): The generation failed: Out of paint.`,
		);
		const rows = await outputRows();
		expect(rows.map(([status]) => status)).toEqual(
			cities.map((_, index) => (index === failing ? 'failed' : 'completed')),
		);
		expect(rows[failing].join()).toContain('The generation failed: Out of paint.');
		await editor.shoot('batch');
		expect(charges(posters)).toEqual(posters.map((_, index) => (index === failing ? 0 : 1)));
	});

	it('runs it again: eleven are reused, and only the failed one is charged', async () => {
		const before = await outputRows();
		await editor.closeNode();
		await runBatch('12 of 12 ready. 11 reused, no charge.');
		await editor.part('ndv').getByText('Run Options', { exact: true }).scrollIntoViewIfNeeded();
		await editor.shootForReadme('batch-again', editor.part('ndv'));
		const after = await outputRows();
		expect(after.map(([status]) => status)).toEqual(cities.map(() => 'completed'));
		const reused = after.filter(([, , , id], index) => id === before[index][3]);
		expect(reused).toHaveLength(11);
		expect(charges(posters)).toEqual(posters.map(() => 1));
		const madeFor = (prompt: string) =>
			books().generations.filter((generation) => generation.prompt === prompt).length;
		expect(posters.map(madeFor)).toEqual(cities.map((_, index) => (index === failing ? 2 : 1)));
		await editor.closeNode();
	});

	it('stops a batch: no more requests are sent, and the table has the charged IDs', async () => {
		const maxConcurrent = 5;
		await openBatch('Banners', banners, { maxConcurrent });
		await editor.part('execute-workflow-button').click();
		const made = () => books().generations.filter(({ prompt }) => prompt.startsWith('Banner'));
		await until('the slots are taken', () => made().length === maxConcurrent);
		// The notification disappears after some seconds.
		const stopped = editor.page.getByText('Execution stopped').waitFor();
		await Promise.all([stopped, editor.part('stop-execution-button').click()]);
		await editor.shoot('stopped', true);
		await openExecutions();
		await ownExecution().getByText('Canceled').waitFor();
		const answered = Date.now();
		expect(made().map(({ state }) => state)).not.toContain('completed');

		// If the step had continued, it would have checked each of them and submitted the others.
		for (const { id } of made()) stage.sandbox.service.finish(id);
		await delay(nextRequestMs);
		const asleep = books().generations.find(({ prompt }) => prompt === video);
		const late = stage.sandbox.requests.all.filter(
			({ at, path }) => at > answered && !path.includes(String(asleep?.id)),
		);
		expect(late.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
		expect(charges(banners)).toEqual(banners.map((_, index) => (index < maxConcurrent ? 1 : 0)));
		const rows = await (await DataTable.of(stage.rest)).rows();
		const ids = rows.filter(({ key }) => !key).map(({ generation_id: id }) => id);
		const paid = made().map(({ id }) => id);
		expect(ids.sort()).toEqual(paid.sort());
	});

	it('finds the keys and the stopped generations in n8n’s data table', async () => {
		const table = await DataTable.of(stage.rest);
		await editor.page.goto(`${stage.n8n.url}${await table.page()}`);
		const grid = editor.part('data-table-grid');
		// The grid renders its rows one after the other.
		for (const { key, generation_id: id } of await table.rows()) {
			await grid
				.getByText(key || String(id))
				.first()
				.waitFor();
		}
		const cells = await grid.getByRole('row').allInnerTexts();
		const rowsWith = (text: string) => cells.filter((row) => row.includes(text));
		for (const [index, key] of keys.entries()) {
			const statuses = rowsWith(key).map((row) => /completed|failed/.exec(row)?.[0]);
			expect([key, statuses]).toEqual([
				key,
				index === failing ? ['failed', 'completed'] : ['completed'],
			]);
		}
		expect(rowsWith(videoKey)).toHaveLength(1);
		const stopped = rowsWith('Banner');
		expect(stopped.filter((row) => /pending|processing/.test(row))).toHaveLength(5);
		const ids = books().generations.filter(({ prompt }) => banners.includes(prompt));
		expect(ids.filter(({ id }) => stopped.some((row) => row.includes(id)))).toHaveLength(5);
		await editor.shootForReadme('data-table', editor.part('data-table-details-view'));
	});

	it('sees the finished video after the suspended execution resumes', async () => {
		await editor.page.goto(sleeper);
		await openExecutions();
		await ownExecution().getByText('Succeeded').waitFor({ timeout: 300_000 });
		await ownExecution().click();
		await editor.openNode('Video Generation');
		expect(await editor.viewVideo()).toEqual([1280, 720, 4]);
		await editor.shoot('slept');
		expect(charges([video])).toEqual([1]);
	});
});

async function openExecutions(): Promise<void> {
	await editor.part('radio-button-executions').click();
	await ownExecution().waitFor();
}

/** Returns the execution in the list that the user started. The others are helper workflows of a suspended step. */
function ownExecution() {
	return editor
		.part('current-executions-list')
		.getByTestId(/^execution-details-/)
		.filter({ has: editor.page.locator('[data-icon=flask-conical]') });
}
