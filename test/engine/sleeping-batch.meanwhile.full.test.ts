import { wallClock } from '../../nodes/shared/http/clock';
import { startSandbox, type Sandbox } from '../../sandbox/server';
import { inARow } from '../../tools/engine/in-a-row';
import type { Run } from '../../tools/engine';
import { ownNode } from '../support/workflow';
import { sleepToEnd } from './asleep';
import { asleep, continues, items, openKeyedStage } from './keyed';

/** What happens to a step while it sleeps: another credential, another execution, a timeout. */

const { stage, created, execute } = openKeyedStage();

const boats = (count: number, seconds = 300) =>
	items(
		...Array.from({ length: count }, (_, n): [string, string] => [
			`k${n}`,
			`boat ${n} [seconds: ${seconds}]`,
		]),
	);
const executions = () =>
	Array.from({ length: 200 }, (_, id) => stage.engine.execution(String(id))).flatMap(
		(run) => run ?? [],
	);
const codes = (run: Run) => run.output('Step').map(({ json }) => json.error_code ?? json.status);

describe('a Base URL that is changed while a step sleeps', () => {
	let other: Sandbox;
	beforeAll(async () => (other = await startSandbox()));
	afterAll(async () => await other.close());
	beforeEach(() => other.reset());

	/** Runs all waves with the credential of the other service. */
	async function changed(run: Run): Promise<Run> {
		expect(run.status).toBe('waiting');
		const credential = { baseUrl: other.url, apiKey: other.keys.main };
		for (const { record } of executions()) record.credentials.mediaGenerationApi = credential;
		return await sleepToEnd(stage, run);
	}

	it('ends the items of a batch as errors, and sends nothing to the new service', async () => {
		const end = await changed(await execute(boats(4), asleep(), continues));
		expect(codes(end)).toEqual(Array.from({ length: 4 }, () => 'credential_changed'));
		expect(created()).toBe(2);
		expect(other.requests.all).toEqual([]);
	});

	it('ends a suspended wait with an error, and sends nothing to the new service', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		const step = ownNode('Step', 'waitForCompletion', { mode: 'suspend' }, { id: 'the-node' });
		const workflow = { ...inARow(step), id: 'the-workflow' };
		const end = await changed(await stage.runWorkflow(workflow, { items: [{ id }] }));
		expect(end.error).toMatchObject({ context: { code: 'credential_changed' } });
		expect(other.requests.all).toEqual([]);
	});
});

it('a Poll Interval that is longer than Timeout does not extend it', async () => {
	const began = wallClock.now();
	const list = items(['a', 'boat [seconds: 300]'], ['b', 'ship [seconds: 7200]']);
	const first = await execute(list, asleep({ pollInterval: 7200, timeout: 600 }), continues);
	const end = await sleepToEnd(stage, first);
	expect(codes(end)).toEqual(['completed', 'timeout']);
	expect((wallClock.now() - began) / 1000).toBeLessThan(2000);
});

it('Limit New Generations 0 ends 1,000 items without a sleep', async () => {
	const run = await execute(boats(1000), asleep({ maxNewGenerations: 0 }));
	expect([run.status, run.output('Step').length, created()]).toEqual(['success', 0, 0]);
});
