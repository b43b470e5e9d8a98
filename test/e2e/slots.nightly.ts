/** A batch with 25 slots in a real n8n. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { outputFolder } from './support/surroundings';
import { Webhook } from './support/webhook';
import { promptsNamed, smallImageNode } from './support/workflows';

const SLOTS = 25;
const ITEMS = 250;
const SECONDS = 2;

let stage: Stage;
beforeAll(async () => {
	stage = await Stage.open({
		name: 'slots',
		sandbox: { timeScale: 1, generationSeconds: SECONDS },
	});
	stage.sandbox.service.accounts.account('main').concurrency = SLOTS;
});
afterAll(async () => await stage?.close());

it('a batch keeps 25 slots busy', async () => {
	const step = smallImageNode({ maxConcurrent: SLOTS });
	const webhook = await Webhook.open(stage, 'pictures', [step]);
	// The first run loads code, which is not part of the cost of a batch.
	await webhook.run(promptsNamed('Before', SLOTS));
	const ran = await webhook.run(promptsNamed('Picture', ITEMS));
	expect([ran.status, errorOf(ran)]).toEqual(['success', '']);
	const statuses = itemsOf(ran, 'Images').map(({ json }) => json.status);
	expect(statuses).toEqual(Array(ITEMS).fill('completed'));
	const took = (Date.parse(String(ran.stoppedAt)) - Date.parse(ran.startedAt)) / 1000;
	const figures = { slots: SLOTS, items: ITEMS, seconds: SECONDS, took };
	process.stdout.write(`${JSON.stringify(figures)}\n`);
	await mkdir(outputFolder('slots'), { recursive: true });
	await writeFile(join(outputFolder('slots'), 'regular.json'), JSON.stringify(figures));
}, 600_000);
