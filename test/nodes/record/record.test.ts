import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { Journal } from '../../../client/orders/journal';
import { SENT } from '../../../client/orders/table';
import type { TableJournal } from '../../../client/orders/table-journal';
import { CancelledError } from '../../../client/api/errors';
import { wallClock } from '../../../nodes/shared/http/clock';
import { openRecord } from '../../../nodes/shared/record/record';
import { contextOf } from '../../support/context';
import { creating } from '../../support/step';
import { VirtualTime } from '../../support/virtual-time';

afterEach(() => jest.restoreAllMocks());

interface World {
	/** Which operations fail. */
	refuses?: (operation: string) => boolean;
	rows?: IDataObject[];
	cancel?: AbortSignal;
}

let workflows = 0;

/** A saved workflow beside a table. */
function beside({ refuses = () => false, rows = [], cancel }: World) {
	const writers: unknown[] = [];
	const { step } = contextOf({ cancel });
	const id = `saved ${++workflows}`;
	const executeWorkflow: IExecuteFunctions['executeWorkflow'] = async ({ code }, input) => {
		const operations = (code?.nodes.slice(1) ?? []).map(({ parameters }) => parameters.operation);
		if (operations.includes('insert'))
			writers.push(...(input ?? []).map(({ json }) => json.writer));
		if (operations.some((operation) => refuses(String(operation)))) {
			throw new Error('the database is gone');
		}
		const table = { id: 'table', name: 'media_generations' };
		const found = operations.includes('list')
			? [table]
			: rows.map((row) => ({ workflow_id: id, ...row }));
		return { executionId: '2', data: [found.map((json) => ({ json }))] };
	};
	Object.assign(step.n8n, {
		getWorkflow: () => ({ id, active: true }),
		getMode: () => 'manual',
		executeWorkflow,
	});
	return { step, writers };
}

const a = creating('A boat', 0, { idempotencyKey: 'a' });
const stored = () => new Journal({}, 0);

it('no two steps have the same writer, in any execution', async () => {
	const refuses = (operation: string) => operation === 'insert';
	const writers: unknown[] = [];
	const { signal: cancel } = new AbortController();
	jest.spyOn(wallClock, 'sleep').mockResolvedValue();
	for (const one of [beside({ refuses, cancel }), beside({ refuses, cancel })]) {
		const journal = (await openRecord(one.step, stored(), [a])) as TableJournal;
		await expect(journal.claim(journal.order(a))).rejects.toMatchObject({
			code: 'record_unavailable',
		});
		await journal.close();
		writers.push(...one.writers);
	}
	expect(new Set(writers).size).toBe(2);
});

it('a stop ends the wait for another execution', async () => {
	const time = new VirtualTime(0);
	jest.spyOn(wallClock, 'now').mockImplementation(() => time.now());
	const sleep = jest.spyOn(wallClock, 'sleep');
	sleep.mockImplementation(async (ms, until) => await time.sleep(ms, until));
	const stop = new AbortController();
	const sent = { key: 'a', node_id: 'node-1', status: SENT, writer: 'b/1' };
	const { step } = beside({ rows: [{ ...sent, id: 1 }], cancel: stop.signal });
	const waiting = async () => {
		const journal = (await openRecord(step, stored(), [a])) as TableJournal;
		time.at(5000, () => stop.abort());
		await expect(journal.read(journal.order(a), stop.signal)).rejects.toThrow(CancelledError);
		expect(time.now()).toBe(5000);
		await journal.close();
	};
	await time.run(waiting());
});
