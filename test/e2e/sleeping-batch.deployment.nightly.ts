/** A batch sleeps, and n8n is shut down during a wave, as in a deployment. In `crash.test.ts`, it is killed. */
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import {
	asleep,
	awake,
	generationSeconds,
	minutes,
	SleepingBatches,
} from './support/sleeping-batches';
import { Stage } from './support/stage';
import { promptsNamed } from './support/workflows';

const prompts = promptsNamed('Deployed', 8);

let stage: Stage;

beforeAll(async () => {
	const sandbox = { generationSeconds, timeScale: 1 };
	stage = await Stage.open({ name: 'sleeping-batch-deployment', sandbox });
});
afterAll(async () => await stage?.close());

it(
	'continues on its own after the next start of n8n, and is charged once',
	async () => {
		const batches = new SleepingBatches(stage);
		const { id } = await batches.begin('Deployed', prompts, asleep(4));
		await stage.executions.asleep(id);
		await awake(stage.sandbox, 'Deployed');
		await stage.n8n.service.stop(20_000, 'SIGTERM');
		stage.sandbox.faults.clear();
		await stage.restart();
		const execution = await stage.executions.ended(id);
		expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
		const items = itemsOf(execution, 'Images').map(({ json }) => json.status);
		expect(items).toEqual(prompts.map(() => 'completed'));
		expect(batches.charges(prompts)).toEqual(prompts.map(() => 1));
	},
	40 * minutes,
);
