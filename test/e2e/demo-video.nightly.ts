/**
 * Plays and records the demo video that n8n's reviewers ask for, in output/e2e/demo-video/demo-video.mp4. It has no sound:
 * each chapter begins with a card that shows its title and its narration. To record a voice, read the narration aloud.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Editor } from './support/browser';
import { DataTable } from './support/data-table';
import { readExample } from './support/examples';
import { Recording } from './support/recording';
import { Stage } from './support/stage';
import { byHand, imageNode } from './support/workflows';

const minutes = 60_000;
const cardMs = 7_000;

/** A part of the video. It begins at its time or, on a slow machine, when the one before it has ended. */
interface Chapter {
	/** Minutes and seconds. */
	startsAt: string;
	title: string;
	narration: string;
	play: () => Promise<void>;
}

let stage: Stage;
let editor: Editor;

const script: Chapter[] = [
	{
		startsAt: '0:00',
		title: 'Five nodes',
		narration:
			'Five nodes create images and videos with one asynchronous, paid generation service. Here it is a local sandbox with placeholder pictures.',
		play: async () => {
			await editor.openWorkflow();
			await editor.search('media');
		},
	},
	{
		startsAt: '0:25',
		title: 'The credential',
		narration:
			'The credential needs the Base URL of the service and an API key. Saving tests it: n8n reads the balance.',
		play: async () => {
			await editor.add('text to image', 'Image Generation');
			await editor.part('credential-edit-button').click();
			const dialog = editor.part('editCredential-modal');
			await type('baseUrl', stage.sandbox.url);
			await type('apiKey', stage.sandbox.keys.main);
			await editor.part('credential-save-button').click();
			await dialog.getByText('Connection tested successfully').waitFor();
			await hold(4);
			await dialog.getByRole('button', { name: /close/i }).first().click();
			await dialog.waitFor({ state: 'hidden' });
		},
	},
	{
		startsAt: '1:05',
		title: 'The first image',
		narration:
			'Choose a model from the live catalog, enter a prompt, and execute the step. It waits for the generation and returns the file.',
		play: async () => {
			await editor.part('rlc-input').click();
			await editor.part('rlc-item').first().waitFor();
			await hold(3);
			await editor.part('rlc-item').first().click();
			const prompt = editor.part('parameter-input-prompt').locator('textarea');
			await prompt.fill('A lighthouse on a cliff at dawn, calm sea, soft light');
			await editor.part('node-execute-button').click();
			await editor.part('ndv-view-binary-data').click();
			await editor.part('output-panel').locator('img[src*="binary-data"]').waitFor();
		},
	},
	{
		startsAt: '1:50',
		title: 'A video that starts from an image',
		narration:
			'The URL of an image is the first frame of a video. The workflow submits the video, then collects it by its ID.',
		play: async () => {
			await editor.openWorkflow((await stage.save(await readExample('main'))).id);
			await hold(3);
			await editor.execute(7);
			await editor.openNode('Collect Video');
			await editor.part('ndv-view-binary-data').click();
			const video = editor.part('output-panel').locator('video');
			await video.waitFor();
			await video.evaluate(async (film: { play(): Promise<void> }) => await film.play());
		},
	},
	{
		startsAt: '2:35',
		title: 'A batch from a data table',
		narration:
			'Each row becomes one generation. Its ID and status are written back. A failed row is refunded and does not stop the others.',
		play: async () => {
			stage.sandbox.faults.order({
				on: 'create',
				match: { promptIncludes: 'market' },
				action: { kind: 'fail', reason: 'Out of oranges' },
			});
			const { id } = await stage.save(await readExample('scheduled-batch-from-table'));
			batch = id;
			await editor.openWorkflow(batch);
			await hold(3);
			await editor.execute(10);
			await hold(3);
			const table = await DataTable.of(stage.rest, 'image-jobs');
			await editor.page.goto(`${stage.n8n.url}${await table.page()}`);
			await editor.page.getByText('station-night').waitFor();
		},
	},
	{
		startsAt: '3:20',
		title: 'Again, at no charge',
		narration:
			'Every row has an idempotency key. A repeated run, also after a crash, reuses the existing generation. Nothing is paid twice.',
		play: async () => {
			const table = await DataTable.of(stage.rest, 'image-jobs');
			await table.change('harbor-dawn', { status: '' });
			await editor.openWorkflow(batch);
			await editor.execute(7);
			await editor.openNode('Create Pictures');
			await editor.part('node-hint').waitFor();
		},
	},
	{
		startsAt: '4:00',
		title: 'When something goes wrong',
		narration:
			'An error says what happened, what was charged, and what to do. It names every charged generation, so that nothing paid is lost.',
		play: async () => {
			stage.sandbox.faults.order({
				on: 'create',
				match: { promptIncludes: 'raft' },
				action: { kind: 'error', code: 'invalid_parameter' },
			});
			const file = byHand('An error', ['a boat', 'a ship', 'a raft'], imageNode());
			await editor.openWorkflow((await stage.save(file)).id);
			await editor.executeToError();
			await editor.openNode('Images');
			await editor.part('node-error-description').waitFor();
		},
	},
	{
		startsAt: '4:30',
		title: 'What was charged',
		narration:
			'The sandbox records every generation and its charge. The tests compare the nodes with these records. The package has no dependencies and is MIT-licensed.',
		play: async () => {
			await editor.page.goto(stage.sandbox.url.replace('127.0.0.1', 'localhost'));
		},
	},
];

let batch: string;

async function type(field: string, text: string): Promise<void> {
	await editor.part(`parameter-input-${field}`).locator('input').fill(text);
	await hold(1);
}

/** Pauses, to give viewers time to read. */
async function hold(seconds: number): Promise<void> {
	await editor.page.waitForTimeout(seconds * 1000);
}

async function holdUntil(recording: Recording, ms: number): Promise<void> {
	await hold(Math.max(ms - recording.elapsedMs, 0) / 1000);
}

function msOf(time: string): number {
	const [minute, second] = time.split(':').map(Number);
	return (minute * 60 + second) * 1000;
}

async function playAll(recording: Recording): Promise<void> {
	await editor.page.screencast.showActions({
		duration: 400,
		style: { title: 'display: none' },
	});
	for (const { startsAt, title, narration: description, play } of script) {
		await holdUntil(recording, msOf(startsAt));
		await editor.page.screencast.showChapter(title, { description, duration: cardMs });
		await play();
		await hold(4);
	}
	await holdUntil(recording, 5 * minutes);
}

beforeAll(async () => {
	stage = await Stage.open({ name: 'demo-video', sandbox: { timeScale: 1, generationSeconds: 5 } });
	editor = await Editor.open(stage.n8n.url, stage.user, stage.folder);
	// Recording keeps the machine busy.
	editor.page.setDefaultTimeout(2 * minutes);
});
afterAll(async () => {
	await editor?.close();
	await stage?.close();
});

it(
	'plays every chapter of the script, and records it',
	async () => {
		const file = join(stage.folder, 'demo-video.mp4');
		const recording = await Recording.start(editor.page, file);
		try {
			await playAll(recording);
		} finally {
			await recording.stop();
		}
		expect((await stat(file)).size).toBeGreaterThan(1_000_000);
	},
	15 * minutes,
);
