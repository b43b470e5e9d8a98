import type { IExecuteFunctions, IWorkflowBase } from 'n8n-workflow';

import { suspensionOf } from '../../nodes/WaitForCompletion/suspend';
import { contextOf } from '../support/context';

/** The small workflow that a step sleeps in whose items have these timeouts, begun at the epoch. */
async function sleptIn(timeouts: unknown[]): Promise<IWorkflowBase> {
	jest.spyOn(Date, 'now').mockReturnValue(0);
	const parameters = timeouts.map((timeout) => ({ mode: 'suspend', options: { timeout } }));
	const { context } = contextOf({ parameters, items: timeouts.map(() => ({ json: {} })) });
	let slept: IWorkflowBase | undefined;
	const executeWorkflow = ({ code }: { code: IWorkflowBase }) => {
		slept = code;
		return { data: [[]] };
	};
	const saved: Partial<Record<keyof IExecuteFunctions, unknown>> = {
		getWorkflow: () => ({ id: 'workflow-1' }),
		getExecutionId: () => '1',
		getMode: () => 'manual',
		executeWorkflow,
	};
	await suspensionOf(Object.assign(context, saved))?.sleep();
	if (!slept) throw new Error('It did not sleep');
	return slept;
}

afterEach(() => jest.restoreAllMocks());

describe('the workflow that a suspended wait sleeps in', () => {
	it('has time for the item that may wait longest', async () => {
		expect(JSON.stringify(await sleptIn([90, 3600, 1800]))).toContain('(3600000 - $now');
	});

	it('has no regard for a timeout that is no number: that item fails by itself', async () => {
		const workflow = JSON.stringify(await sleptIn(['soon', 90]));
		expect(workflow).toContain('(90000 - $now');
		expect(workflow).not.toContain('NaN');
	});
});
