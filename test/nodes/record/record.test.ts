import type { IExecuteFunctions } from 'n8n-workflow';

import { Journal } from '../../../client/orders/journal';
import { orderOf } from '../../../client/orders/order';
import type { TableJournal } from '../../../client/orders/table-journal';
import { wallClock } from '../../../nodes/shared/http/clock';
import { openRecord } from '../../../nodes/shared/record/record';
import { contextOf } from '../../support/context';
import { creating } from '../../support/step';

afterEach(() => jest.restoreAllMocks());

it('no two steps have the same writer, in any execution', async () => {
	const writers: unknown[] = [];
	const executeWorkflow: IExecuteFunctions['executeWorkflow'] = async ({ code }, input) => {
		if (code?.nodes.some(({ parameters }) => parameters.operation === 'insert')) {
			writers.push(...(input ?? []).map(({ json }) => json.writer));
			throw new Error('the database is gone');
		}
		return { executionId: '2', data: [[{ json: { id: 'table', name: 'media_generations' } }]] };
	};
	// Each look at the clock is ten seconds later.
	let now = wallClock.now();
	jest.spyOn(wallClock, 'now').mockImplementation(() => (now += 10_000));
	jest.spyOn(wallClock, 'sleep').mockResolvedValue();
	const job = creating('A boat', 0, { idempotencyKey: 'a' });
	for (const id of ['saved 1', 'saved 2']) {
		const { step } = contextOf({ cancel: new AbortController().signal });
		const getWorkflow = () => ({ id, active: true });
		Object.assign(step.n8n, { getWorkflow, getMode: () => 'manual', executeWorkflow });
		const journal = (await openRecord(step, new Journal({}, 0), [job])) as TableJournal;
		await expect(journal.claim(orderOf(job, 0))).rejects.toMatchObject({
			code: 'record_unavailable',
		});
		await journal.close();
	}
	expect(writers.length).toBeGreaterThan(1);
	expect(new Set(writers).size).toBe(2);
});
