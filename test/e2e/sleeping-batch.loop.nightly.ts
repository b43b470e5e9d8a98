/** A suspended batch in each round of a loop: n8n runs one execution at a time, and is killed in the second round. */
import type { INodeParameters } from 'n8n-workflow';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { WorkflowFile } from '../../tools/n8n/rest';
import { Stage } from './support/stage';
import { until } from './support/until';
import { Webhook } from './support/webhook';
import { byWebhook, imageNode, promptsNamed, small } from './support/workflows';

const minutes = 60_000;
/** The prompts of two executions. Each has two rounds of two items. */
const lists = ['One', 'Another'].map((name) => promptsNamed(`${name} loop`, 4));

let stage: Stage;
let ended: Execution[];

beforeAll(async () => {
	stage = await Stage.open({
		name: 'sleeping-batch-loop',
		sandbox: { generationSeconds: 100, timeScale: 1 },
		env: { N8N_CONCURRENCY_PRODUCTION_LIMIT: '1' },
	});
	ended = await play();
}, 40 * minutes);
afterAll(async () => await stage?.close());

async function play(): Promise<Execution[]> {
	const webhook = await Webhook.publish(stage, looping());
	const ids: string[] = [];
	for (const prompts of lists) ids.push(await webhook.call(prompts));
	const { books, faults, requests } = stage.sandbox;
	const ofSecondRound = { promptIncludes: lists[0][2] };
	faults.order({ on: 'status', match: ofSecondRound, times: 'always', action: { kind: 'hang' } });
	const hangs = () => requests.all.some(({ fault }) => fault === 'hang');
	await until('a wave of the second round is awake', hangs, 12 * minutes);
	// A step that is awake dies with n8n. The other execution may be a wave behind.
	const areCharged = () => lists.flat().every((prompt) => books.liveChargesFor(prompt) === 1);
	await until('both executions are in the second round', areCharged, 12 * minutes);
	for (const id of ids) await stage.executions.asleep(id);
	await stage.restart();
	faults.clear();
	return await Promise.all(ids.map(async (id) => await stage.executions.ended(id)));
}

/** Returns a workflow that sends two items at a time through the node. */
function looping(): WorkflowFile {
	const { parameters, ...node } = imageNode({ idempotencyKey: '={{ $json.prompt }}' });
	const runOptions = { whileWaiting: 'suspend', maxConcurrent: 2 };
	const images = { ...node, parameters: small({ ...parameters, runOptions }) };
	const loop = core('Loop', 'splitInBatches', 3, { batchSize: 2, options: {} });
	const workflow = byWebhook('loop', [loop, images, core('Done', 'noOp', 1)]);
	const to = (name: string) => [{ node: name, type: 'main', index: 0 }];
	Object.assign(workflow.connections, {
		Loop: { main: [to('Done'), to('Images')] },
		Images: { main: [to('Loop')] },
	});
	return workflow;
}

function core(name: string, type: string, typeVersion: number, parameters: INodeParameters = {}) {
	return { id: name, name, type: `n8n-nodes-base.${type}`, typeVersion, parameters };
}

it('returns the items of all rounds in order, and charges each once', () => {
	const { books } = stage.sandbox;
	const made = new Map(books.generations.map(({ id, prompt }) => [id, prompt]));
	for (const [index, execution] of ended.entries()) {
		expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
		const items = itemsOf(execution, 'Done');
		expect(items.map(({ json }) => made.get(String(json.id)))).toEqual(lists[index]);
		expect(lists[index].map((prompt) => books.liveChargesFor(prompt))).toEqual([1, 1, 1, 1]);
	}
});
