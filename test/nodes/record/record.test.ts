import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { GenerationRecord } from '../../../client/paying/record';
import { SENT } from '../../../client/paying/record-rows';
import { CancelledError } from '../../../client/api/errors';
import { wallClock } from '../../../nodes/shared/http/clock';
import { openRecord } from '../../../nodes/shared/record/record';
import { contextOf } from '../../support/context';
import { creating } from '../../support/step';
import { VirtualTime } from '../../support/virtual-time';

afterEach(() => jest.restoreAllMocks());

interface World {
	/** Which calls fail, by their operation and those that were made so far. */
	refuses?: (operation: string, calls: string[]) => boolean;
	rows?: IDataObject[];
	cancel?: AbortSignal;
}

/** A saved workflow beside a table. */
function beside({ refuses = () => false, rows = [], cancel }: World) {
	const calls: string[] = [];
	const writers: unknown[] = [];
	const { context } = contextOf({ cancel });
	const executeWorkflow: IExecuteFunctions['executeWorkflow'] = async ({ code }, input) => {
		const operation = String(code?.nodes[1].parameters.operation);
		calls.push(operation);
		if (operation === 'insert') writers.push(...(input ?? []).map(({ json }) => json.writer));
		if (refuses(operation, calls)) throw new Error('the database is gone');
		const table = { id: 'table', name: 'media_generations' };
		const found = operation === 'list' ? [table] : rows;
		return { executionId: '2', data: [found.map((json) => ({ json }))] };
	};
	Object.assign(context, {
		getWorkflow: () => ({ id: 'saved', active: true }),
		getExecutionId: () => '1',
		getMode: () => 'manual',
		executeWorkflow,
	});
	return { context, calls, writers };
}

const jobs = [creating('A boat', 0, { idempotencyKey: 'a' })];

it('a record that cannot be opened is closed: nothing goes on beating for it', async () => {
	const beats: Array<AbortSignal | undefined> = [];
	jest.spyOn(wallClock, 'sleep').mockImplementation(async (_ms, signal) => {
		beats.push(signal);
		if (signal) await new Promise((resolve) => signal.addEventListener('abort', resolve));
	});
	const { context } = beside({ refuses: (operation) => operation === 'insert' });
	await expect(openRecord(context, jobs)).rejects.toMatchObject({ code: 'record_unavailable' });
	expect(beats.map((signal) => signal?.aborted)).toEqual([true]);
});

it('no two records write under one name, whatever execution they are of', async () => {
	const refuses = (operation: string, calls: string[]) =>
		operation === 'get' && calls.includes('insert');
	const [one, other] = [beside({ refuses }), beside({ refuses })];
	for (const { context } of [one, other]) {
		await expect(openRecord(context, jobs)).rejects.toThrow();
	}
	expect(one.writers).toHaveLength(1);
	expect(one.writers).not.toEqual(other.writers);
});

it('a stop ends the waiting for what another has sent', async () => {
	const time = new VirtualTime(0);
	jest.spyOn(wallClock, 'now').mockImplementation(() => time.now());
	const sleep = jest.spyOn(wallClock, 'sleep');
	sleep.mockImplementation(async (ms, signal) => await time.sleep(ms, signal));
	const stop = new AbortController();
	const sent = { key: 'a', workflow_id: 'saved', node_id: 'node-1', status: SENT, writer: 'b/1' };
	const { context } = beside({ rows: [{ ...sent, id: 1 }], cancel: stop.signal });
	const record = (await openRecord(context, jobs)) as GenerationRecord;
	time.at(5000, () => stop.abort());
	await expect(time.run(record.find('a'))).rejects.toThrow(CancelledError);
	expect(time.now()).toBe(5000);
	await record.close();
});
