import { whyNotSleep } from '../../../nodes/shared/sleep/can-sleep';
import { contextOf, type Given } from '../../support/context';

const mockedWorkflow = jest.requireActual<{ WAIT_FOR_SUB_EXECUTION?: Date }>('n8n-workflow');
let release: 'current' | 'older' = 'current';

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	get WAIT_FOR_SUB_EXECUTION() {
		return release === 'older' ? undefined : mockedWorkflow.WAIT_FOR_SUB_EXECUTION;
	},
}));

function reason(given: Given, settings: object = {}, ids = ['w1', '7']) {
	const { step } = contextOf(given);
	Object.assign(step.n8n, {
		getWorkflow: () => ({ id: ids[0] }),
		getWorkflowSettings: () => settings,
	});
	return whyNotSleep({ ...step, execution: ids[1] });
}

describe('a batch that is to sleep', () => {
	beforeEach(() => (release = 'current'));

	it('sleeps in a saved workflow', () => {
		expect(reason({})).toBeNull();
	});

	it('polls on a release of n8n that does not wake a step after a crash', () => {
		release = 'older';
		expect(reason({})).toContain('2.41');
	});

	it.each<[string, ReturnType<typeof reason>, string]>([
		['as a tool', reason({ isTool: true }), 'AI agent'],
		['in a sub-workflow of an evaluation', reason({ evaluation: { runId: '1' } }), 'evaluation'],
		['in a workflow that is not saved', reason({}, {}, ['__EMPTY__', '7']), 'saved'],
		['in an execution that is not saved', reason({}, {}, ['w1', '__UNKNOWN__']), 'saved'],
		['in the next engine of n8n', reason({}, { engineType: 'v2' }), 'engine'],
		['with an error output', reason({ node: { onError: 'continueErrorOutput' } }), 'error output'],
	])('polls %s, and says why', (_, said, words) => {
		expect(said).toContain(words);
	});
});
