import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { FaultTarget } from '../../sandbox/faults';
import type { Run } from '../../tools/engine';
import { sleepToEnd, wake, nextOf } from './asleep';
import { items, openKeyedStage } from './keyed';

/** Suspended batches while the service is down. `test/client/sleeping-batch.test.ts` has more of them. */

const { stage, tables, created, execute, rows } = openKeyedStage();

const asleep = (parameters: INodeParameters = {}): INodeParameters => ({
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 2, timeout: 1200 },
	downloadOutput: false,
	...parameters,
});
const list = items(
	['a', 'a boat [seconds: 300]'],
	['b', 'a ship [seconds: 300]'],
	['c', 'a raft [seconds: 300]'],
);
const continues = { onError: 'continueRegularOutput' };
const ends = (run: Run) => run.output('Step').map(({ json }) => json.error_code ?? json.status);
const nameOf = (run: Run) => run.record.workflow.name;

function goDown(on: FaultTarget): void {
	const action = { kind: 'error', code: 'service_unavailable' } as const;
	stage.sandbox.faults.order({ on, times: 'always', action });
}

/** Runs a batch until its results are to be fetched. */
async function allMade(settings: IDataObject = {}): Promise<Run> {
	let run = await execute(list, asleep({ downloadOutput: true }), settings);
	while (nameOf(nextOf(stage, run)) === 'Step: waves') run = await wake(stage, run);
	expect(nameOf(nextOf(stage, run))).toBe('Step: results');
	return run;
}

it('a rejected API key ends the batch at the next wave, and the error names all generations', async () => {
	const first = await execute(list, asleep());
	const action = { kind: 'error', code: 'expired_api_key' } as const;
	stage.sandbox.faults.order({ on: 'any', times: 'always', action });
	const { error } = await sleepToEnd(stage, first);
	expect(error).toMatchObject({ context: { code: 'expired_api_key' } });
	expect(rows()).toHaveLength(2);
	for (const { generation_id: id } of rows()) {
		expect(error).toHaveProperty('description', expect.stringContaining(String(id)));
	}
});

describe('an outage while the results are fetched', () => {
	it.each<[FaultTarget, IDataObject]>([
		['status', {}],
		['status', continues],
		['download', {}],
		['download', continues],
	])('ends nothing if it passes: %s, %j', async (on, settings) => {
		const last = await allMade(settings);
		goDown(on);
		const results = wake(stage, last);
		await stage.pass(600);
		stage.sandbox.faults.clear();
		const end = await results;
		expect([end.status, end.error?.message]).toEqual(['success', undefined]);
		expect([ends(end), created()]).toEqual([list.map(() => 'completed'), 3]);
		expect(end.output('Step').every(({ binary }) => binary?.data)).toBe(true);
	});

	it('ends each item with an error that names its generation if it does not pass', async () => {
		const last = await allMade(continues);
		goDown('status');
		const end = await sleepToEnd(stage, last);
		expect(end.output('Step').map(({ json }) => [json.id, json.error_code])).toEqual(
			rows().map(({ generation_id: id }) => [id, 'timeout']),
		);
	});
});

describe('a table that cannot be opened', () => {
	const gone = async () => await Promise.reject(new Error('The table is gone'));

	it.each(['a wave begins', 'the results are fetched'])('ends nothing if %s', async (when) => {
		const isWave = when === 'a wave begins';
		const last = isWave ? await execute(list, asleep()) : await allMade();
		tables.before = gone;
		const next = await wake(stage, last);
		tables.before = () => undefined;
		expect(next.status).toBe('waiting');
		const end = await sleepToEnd(stage, next);
		expect([end.status, end.error?.message]).toEqual(['success', undefined]);
		expect([ends(end), created()]).toEqual([list.map(() => 'completed'), 3]);
	});
});
