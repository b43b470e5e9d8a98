import { deliver } from '../../../nodes/shared/sleep/deliver';
import * as executions from '../../../nodes/shared/sleep/executions';
import * as fetching from '../../../nodes/shared/sleep/fetch-results';
import * as n8nStart from '../../../nodes/shared/sleep/n8n-start';
import { messageItem, newState } from '../../../nodes/shared/sleep/state';
import { newMemory } from '../../../client/jobs/memory';
import { waitingProfile } from '../../../nodes/WaitForCompletion/suspend';
import { contextOf } from '../../support/context';

jest.spyOn(n8nStart, 'n8nStarted').mockResolvedValue();

/** Prepares `fetch` for the results of a step. `keepsErrors`: which failed executions of the user's workflow n8n keeps. */
function results(keepsErrors: 'all' | 'none' = 'all') {
	const { step } = contextOf({ items: [] });
	Object.assign(step.n8n, {
		getWorkflowSettings: () => ({ mediaGeneration: { secret: 's', errors: keepsErrors } }),
	});
	jest.spyOn(executions, 'unlessStopped').mockImplementation(async (given, _, work) => ({
		result: await work(given),
		stopped: false,
	}));
	const state = newState(step, 0, newMemory('token', 0), false);
	const awaited = jest.spyOn(executions, 'awaitedStep');
	return { step, awaited, fetch: async () => await deliver(step, state, waitingProfile) };
}

it('says so if the step was stopped', async () => {
	const { awaited, fetch } = results();
	awaited.mockResolvedValue(null);
	expect(await fetch()).toEqual([[messageItem({ stopped: true })]]);
});

it('says so if the step has no output items: n8n would not run the next node', async () => {
	const { awaited, fetch, step } = results();
	awaited.mockResolvedValue(step);
	jest.spyOn(fetching, 'fetchResults').mockResolvedValue([[]]);
	expect(await fetch()).toEqual([[messageItem({ empty: true })]]);
});

it('returns its own error, so that it is not kept, if the workflow keeps no failed executions', async () => {
	const { awaited, fetch } = results('none');
	awaited.mockRejectedValue(new Error('Nobody waits'));
	expect(await fetch()).toEqual([[{ json: { error: 'Nobody waits' } }]]);
});

it('otherwise throws its own error', async () => {
	const { awaited, fetch } = results();
	awaited.mockRejectedValue(new Error('Nobody waits'));
	await expect(fetch()).rejects.toThrow('Nobody waits');
});
