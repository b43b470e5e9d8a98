import type { IWorkflowBase } from 'n8n-workflow';

import { dataTable } from '../../nodes/shared/data-table';
import { contextOf } from '../support/context';

describe('the small workflows that keep the record', () => {
	it('are called by their own workflow whatever n8n allows by default, and are in no list afterwards', async () => {
		const called: IWorkflowBase[] = [];
		const { context } = contextOf();
		Object.assign(context, {
			getWorkflow: () => ({ id: 'saved', active: true }),
			getExecutionId: () => '1',
			getMode: () => 'manual',
			executeWorkflow: async ({ code }: { code: IWorkflowBase }) => {
				called.push(code);
				return { executionId: '2', data: [[{ json: { id: 'table', name: 'media_generations' } }]] };
			},
		});
		await dataTable(context);
		expect(called.length).toBeGreaterThan(0);
		for (const { settings } of called) {
			// `any` ends with n8n 3.
			expect(settings).toMatchObject({
				callerPolicy: 'workflowsFromSameOwner',
				saveDataSuccessExecution: 'none',
				saveDataErrorExecution: 'none',
			});
		}
	});
});
