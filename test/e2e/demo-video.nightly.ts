/** Plays and records the script of docs/demo-video.md. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Editor } from './support/browser';
import { DataTable } from './support/data-table';
import { readExample } from './support/examples';
import { Recording } from './support/recording';
import { Stage } from './support/stage';
import { repository } from './support/surroundings';
import { byHand, imageNode } from './support/workflows';

const minutes = 60_000;
const cardMs = 7_000;

/** A row of the script's table. */
interface Chapter {
	startsAtMs: number;
	title: string;
	narration: string;
}

async function readScript(): Promise<Chapter[]> {
	const text = await readFile(join(repository, 'docs', 'demo-video.md'), 'utf8');
	const rows = text.matchAll(/^\| (\d):(\d\d) \| (.+?) *\| .+? *\| (.+?) *\|$/gm);
	return [...rows].map(([, minute, second, title, narration]) => ({
		startsAtMs: (Number(minute) * 60 + Number(second)) * 1000,
		title,
		narration,
	}));
}

let stage: Stage;
let editor: Editor;

/** The actions of each chapter, by its title. */
const scenes: Record<string, () => Promise<void>> = {
	'Five nodes': async () => {
		await editor.openWorkflow();
		await editor.search('media');
	},

	'The credential': async () => {
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

	'The first image': async () => {
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

	'A video that starts from an image': async () => {
		await editor.openWorkflow((await stage.save(await readExample('main'))).id);
		await hold(3);
		await editor.execute(7);
		await editor.openNode('Collect Video');
		await editor.part('ndv-view-binary-data').click();
		const video = editor.part('output-panel').locator('video');
		await video.waitFor();
		await video.evaluate(async (film: { play(): Promise<void> }) => await film.play());
	},

	'A batch from a data table': async () => {
		stage.sandbox.faults.order({
			on: 'create',
			match: { promptIncludes: 'market' },
			action: { kind: 'fail', reason: 'Out of oranges' },
		});
		const { id } = await stage.save(await readExample('scheduled-batch-from-table'));
		batch = id;
		await editor.openWorkflow(batch);
		await hold(3);
		await editor.execute(11);
		await hold(3);
		const table = await DataTable.of(stage.rest, 'image-jobs');
		await editor.page.goto(`${stage.n8n.url}${await table.page()}`);
		await editor.page.getByText('station-night').waitFor();
	},

	'Again, at no charge': async () => {
		const table = await DataTable.of(stage.rest, 'image-jobs');
		await table.change('harbor-dawn', { status: '' });
		await editor.openWorkflow(batch);
		await editor.execute(8);
		await editor.openNode('Create Pictures');
		await editor.part('node-hint').waitFor();
	},

	'When something goes wrong': async () => {
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

	'What was charged': async () => {
		await editor.page.goto(stage.sandbox.url.replace('127.0.0.1', 'localhost'));
	},
};

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

async function play(script: Chapter[], recording: Recording): Promise<void> {
	await editor.page.screencast.showActions({
		duration: 400,
		style: { title: 'display: none' },
	});
	for (const { startsAtMs, title, narration: description } of script) {
		await holdUntil(recording, startsAtMs);
		await editor.page.screencast.showChapter(title, { description, duration: cardMs });
		await scenes[title]();
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
		const script = await readScript();
		expect(script.map(({ title }) => title)).toEqual(Object.keys(scenes));
		const file = join(stage.folder, 'demo-video.mp4');
		const recording = await Recording.start(editor.page, file);
		try {
			await play(script, recording);
		} finally {
			await recording.stop();
		}
		expect((await stat(file)).size).toBeGreaterThan(1_000_000);
	},
	15 * minutes,
);
