/** The user's Stop in the middle of a batch. */
import { setTimeout as delay } from 'node:timers/promises';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, promptsNamed, trigger } from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.open({ name: 'stop', sandbox: { generationSeconds: 60 } });
});
afterAll(async () => await stage?.close());

it('ends all requests at once, also with Retry On Fail', async () => {
	const prompts = promptsNamed('Stopped', 30);
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1000 };
	const workflow = await stage.save(byHand('Stop', prompts, imageNode({}, settings)));
	const id = await stage.executions.run(workflow, trigger);
	const { requests, books } = stage.sandbox;
	// The second round has begun: slots are taken again as generations finish, and files come in.
	await until(
		'a second round',
		() => books.totals.created > 10 && requests.on('download').length > 0,
	);

	await stage.executions.stop(id);
	// What was on its way may come in after n8n's answer: the sandbox shares a busy process with this test.
	await delay(500);
	const answered = Date.now();
	const { status } = await stage.executions.ended(id);
	expect(status).toBe('canceled');
	const { created } = books.totals;
	expect(created).toBeLessThan(30);

	await delay(12_000);
	const late = requests.all.filter(({ at }) => at > answered);
	expect(late.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
	expect(books.totals.created).toBe(created);
});
