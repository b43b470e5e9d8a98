/** Checks idempotency keys on releases whose nodes can create data tables, and the error on releases before that. */
import { errorOf, itemsOf } from '../../../tools/n8n/executions';
import type { Execution } from '../../../tools/n8n/executions';
import type { Workflow } from '../../../tools/n8n/rest';
import { Stage } from '../support/stage';
import { hasTables } from '../support/surroundings';
import { byHand, imageNode, promptsNamed, trigger } from '../support/workflows';

const prompts = promptsNamed('Once', 4);
let stage: Stage;
let workflow: Workflow;

beforeAll(async () => {
	stage = await Stage.open({ name: 'record' });
	const keyed = imageNode({ idempotencyKey: '={{ $json.prompt }}' });
	workflow = await stage.save(byHand('Keyed', prompts, keyed));
});
afterAll(async () => await stage?.close());

async function run(): Promise<Execution> {
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

if (hasTables) {
	it('the same rows return the same generations in the next execution, also after a kill', async () => {
		const first = await run();
		expect([first.status, errorOf(first)]).toEqual(['success', '']);
		await stage.restart();
		const second = await run();
		const ids = [first, second].map((one) => itemsOf(one, 'Images').map(({ json }) => json.id));
		expect(ids[0]).toHaveLength(prompts.length);
		expect(ids[1]).toEqual(ids[0]);
		expect(stage.sandbox.books.totals.created).toBe(prompts.length);
	});
} else {
	it('an idempotency key is an error that names the required release, before anything is sent', async () => {
		const execution = await run();
		expect(execution.status).toBe('error');
		expect(errorOf(execution)).toContain('needs n8n 2.3 or later');
		expect(stage.sandbox.requests.on('create')).toEqual([]);
	});
}
