/** A step that ends before its generations do: by the user's Stop, or by its timeout. */
import { setTimeout as delay } from 'node:timers/promises';
import { http } from '../../tools/http';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { DataTable } from './support/data-table';
import { Stage } from './support/stage';
import { hasTables } from './support/surroundings';
import { until } from './support/until';
import { byHand, imageNode, promptsNamed, trigger } from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.share({ name: 'stop', sandbox: { generationSeconds: 60 } });
});
afterAll(async () => await stage?.close());

it('ends all requests at once, also with Retry On Fail', async () => {
	const table = await DataTable.of(stage.rest);
	await table.make('media_generations');
	// n8n's name filter also finds tables that contain the name, the newest first.
	await table.make('media_generations (old)');
	const prompts = promptsNamed('Stopped', 60);
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1000 };
	const workflow = await stage.save(byHand('Stop', prompts, imageNode({}, settings)));
	const id = await stage.executions.run(workflow, trigger);
	const { requests, books } = stage.sandbox;
	// The second round has begun: finished generations free their slots, and files arrive.
	await until(
		'a second round',
		() => books.totals.created > 10 && requests.on('download').length > 0,
	);

	await stage.executions.stop(id);
	// In-flight requests may arrive after n8n's response: the sandbox shares a busy process with this test. It handles
	// requests in order, so after these two it has read all earlier ones.
	await delay(500);
	for (const url of [stage.sandbox.url, stage.sandbox.storageUrl]) await http.get(url);
	const answered = Date.now();
	const { status } = await stage.executions.ended(id);
	expect(status).toBe('canceled');
	const { created } = books.totals;
	expect(created).toBeLessThan(60);

	await delay(12_000);
	const late = requests.all.filter(({ at }) => at > answered);
	expect(late.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
	expect(books.totals.created).toBe(created);
	// The step returned nothing, so n8n has the IDs only in these rows.
	const rows = await table.rows();
	const ids = rows.filter(({ key }) => !key).map(({ generation_id: one }) => one);
	const paid = hasTables ? books.generations.map((one) => one.id) : [];
	expect(ids.sort()).toEqual(paid.sort());
});

it('ends an item at its timeout if the service has stopped responding', async () => {
	stage.sandbox.reset();
	stage.sandbox.faults.order({ on: 'status', times: 'always', action: { kind: 'hang' } });
	const images = imageNode({ timeout: 5, onTimeout: 'continue' });
	const workflow = await stage.save(byHand('Silence', ['Silent [seconds: 6000]'], images));
	const id = await stage.executions.run(workflow, trigger);
	const execution = await stage.executions.ended(id);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Images')).toMatchObject([{ json: { timed_out: true } }]);
	// Otherwise the step would last longer than a minute: a hanging request is given up after that time, and sent again.
	const took = Date.parse(String(execution.stoppedAt)) - Date.parse(execution.startedAt);
	expect(took).toBeLessThan(60_000);
});
