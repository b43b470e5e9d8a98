import type { INodeExecutionData } from 'n8n-workflow';

import { newMemory } from '../../../client/jobs/memory';
import { wallClock } from '../../../nodes/shared/http/clock';
import * as executions from '../../../nodes/shared/sleep/executions';
import * as n8nStart from '../../../nodes/shared/sleep/n8n-start';
import {
	messageIn,
	messageItem,
	newState,
	type Message,
	type Role,
	type SleepState,
} from '../../../nodes/shared/sleep/state';
import { supervise, type HelperContext } from '../../../nodes/shared/sleep/supervise';
import { waitingProfile } from '../../../nodes/WaitForCompletion/suspend';
import { contextOf } from '../../support/context';

/** A node of a helper workflow that runs once. */
interface Given {
	role: Role;
	item: INodeExecutionData;
	state?: Partial<SleepState>;
	/** True for the first node of the execution. */
	isFirst?: boolean;
	isStopped?: boolean;
	result?: INodeExecutionData[];
	waves?: HelperContext['waves'];
	/** What happens while a wave runs. Without it, the step sleeps no more. */
	during?: 'a stop' | 'a failure';
}

const awaitedRecovery = jest.spyOn(n8nStart, 'n8nStarted').mockResolvedValue();
beforeEach(() => awaitedRecovery.mockClear());

const WAKE_AT = wallClock.now() + 600_000;
const output: INodeExecutionData = { json: { id: 'a' } };

/** Runs the node. Returns its output (a message by its content), the state that it leaves, and the workflows that it starts. */
async function run({ role, item, state, isFirst, isStopped, during, ...rest }: Given) {
	const cancel = new AbortController();
	if (isStopped) cancel.abort();
	jest.spyOn(executions, 'awaitedStep').mockImplementation(async () => {
		if (during === 'a stop') cancel.abort();
		if (during === 'a failure') throw new Error('The disk is full');
		return null;
	});
	const { step } = contextOf({ items: [item], cancel: cancel.signal });
	const begun = newState(step, 0, newMemory('token', 0), false);
	const given = { ...begun, wakeAt: WAKE_AT, ...state };
	const context: HelperContext = isFirst ? {} : { state: given, ...rest };
	const started: Message[] = [];
	Object.assign(step.n8n, {
		getContext: () => context,
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowSettings: () => ({}),
		getMode: () => 'trigger',
		putExecutionToWait: async () => {},
		executeWorkflow: async (_: object, [one]: INodeExecutionData[]) => {
			started.push(messageIn(one) as Message);
			return { executionId: '9', data: [], waitTill: new Date() };
		},
	});
	const [returned] = await supervise(step, role, given, waitingProfile);
	const [first] = returned;
	return { returned, said: messageIn(first), left: context.state as SleepState, context, started };
}

const STOPPED: Message = { stopped: true };

it('the first node of a guard lets the first wave begin when it is due, and counts no death', async () => {
	const { left, said, started } = await run({
		...{ role: 'startWaves', isFirst: true },
		item: messageItem({ state: {} as SleepState }),
	});
	expect(said).toEqual({ asleep: true });
	expect([started[0].state?.wakeAt, left.dead]).toEqual([WAKE_AT, 0]);
});

it.each<[Role, boolean]>([
	['startWaves', false],
	['collect', false],
	['report', true],
	['return', true],
])('%s awaits n8n’s crash recovery: %s', async (role, isAwaited) => {
	const item = messageItem({});
	await run({ role, item, state: { over: true }, result: [output] });
	expect(awaitedRecovery).toHaveBeenCalledTimes(isAwaited ? 1 : 0);
});

it.each<Role>(['startWaves', 'collect', 'report', 'wave'])(
	'after a stop, %s says so, and starts no helper workflow',
	async (role) => {
		const { said, started } = await run({ role, item: messageItem({}), isStopped: true });
		expect([said, started]).toEqual([STOPPED, []]);
	},
);

it('after a stop, the guard returns why the step ended, without a look at the step', async () => {
	const looks = jest.spyOn(executions, 'stepOf');
	const { left, returned } = await run({ role: 'return', item: messageItem({}), isStopped: true });
	expect(looks).not.toHaveBeenCalled();
	expect(returned).toMatchObject([{ json: { error_code: 'wait_interrupted' } }]);
	expect(left.stopped).toBe(true);
});

it.each<Role>(['collect', 'report'])(
	'after the last of its waves, %s counts no death if further waves are needed',
	async (role) => {
		const { left, started } = await run({ role, item: messageItem({ asleep: true }) });
		expect([left.dead, started]).toEqual([0, []]);
	},
);

it.each<[Role, boolean]>([
	['startWaves', false],
	['wave', false],
	['collect', true],
])('once there is a result, %s only passes it on', async (role, over) => {
	const { context, said, started } = await run({ role, item: output, state: { over } });
	expect([context.result, said, started]).toEqual([[output], {}, []]);
});

it.each<Role>(['report', 'return'])('%s returns the result', async (role) => {
	expect((await run({ role, item: messageItem({}), result: [output] })).returned).toEqual([output]);
});

it('the guard starts no waves after a helper execution that was stopped', async () => {
	const { left, started } = await run({ role: 'startWaves', item: messageItem(STOPPED) });
	expect([left.stopped, left.over, started]).toEqual([true, true, []]);
});

it.each<[string, number, number]>([
	['their first wave has certainly ended well', 600_001, 1],
	['their first wave may have died', 599_000, 4],
])(
	'the death of waves counts as one more, or as the first if some of them worked: %s',
	async (_, ms, dead) => {
		jest.spyOn(executions, 'stateOf').mockResolvedValue(null);
		const waves = { execution: '8', dueAt: wallClock.now() - ms };
		const item = { json: { error: 'Workflow did not finish' } };
		const { left } = await run({ role: 'startWaves', item, state: { dead: 3 }, waves });
		expect(left).toMatchObject({ dead, lastDeath: 'Workflow did not finish' });
	},
);

describe('a wave', () => {
	const wave = { role: 'wave', item: messageItem({}) } as const;

	it('that fails is counted, and the next one tries again', async () => {
		const { left, said } = await run({ ...wave, during: 'a failure' });
		expect(said).toEqual({ asleep: true });
		expect(left).toMatchObject({ dead: 1, lastDeath: 'The disk is full', over: false });
	});

	it('is the last one if it is the fifth in a row that fails', async () => {
		const { left, said } = await run({ ...wave, during: 'a failure', state: { dead: 4 } });
		expect([said, left.dead, left.over]).toEqual([{}, 5, true]);
	});

	it('that succeeds ends the count of failures in a row', async () => {
		const { left } = await run({ ...wave, state: { dead: 4, lastDeath: 'The disk is full' } });
		expect(left).toMatchObject({ dead: 0, lastDeath: '' });
	});

	it('that is stopped says so', async () => {
		expect((await run({ ...wave, during: 'a stop' })).said).toEqual(STOPPED);
	});
});
