import type { INodeExecutionData, IWorkflowBase } from 'n8n-workflow';

import { onAbort, toResult } from '../../../client/async';
import { sentences } from '../../../client/text';
import { continuesOnError } from '../execution';
import { planItems } from '../form/plan-items';
import { nodeError, stepError } from '../output/node-error';
import { outputItems } from '../output/results';
import { runHelper } from '../helper-workflow';
import { wallClock } from '../http/clock';
import { n8nStarted } from './n8n-start';
import { endedEarly, throwFailure } from './failure';
import {
	asleep,
	countDeath,
	deathIn,
	messageIn,
	messageItem,
	MOST_DEAD,
	nothing,
	takeIn,
	type Role,
	type SleepState,
	type NodeProfile,
} from './state';
import { stateOf, stepOf } from './executions';
import { lastKnown } from './fetch-results';
import { nextWave } from './wave';
import { resultsWorkflow, wavesWorkflow } from './workflows';
import type { Step } from '../step';

/** What all nodes of one execution of the guard, or of the waves, share. n8n stores this context with that execution. */
export interface HelperContext {
	state?: SleepState;
	/** The result of the step. It is kept here because n8n would store a copy for each further node that returned it. */
	result?: INodeExecutionData[];
	/** Only in the guard: the execution for waves that it started last, and when the first wave of that execution was due. */
	waves?: { execution: string; dueAt: number };
}

/**
 * Runs a node of the guard (the workflow that starts the waves) or of the workflow of the waves. A node with the role `wave`
 * does the work that is due, and lets this execution sleep. Any other node reads the result of the helper execution that the
 * previous node started. It may start the next helper execution, and this execution then sleeps until that one ends.
 *
 * @throws NodeApiError: the error with which the step must end
 */
export async function supervise(
	helper: Step,
	role: Role,
	given: SleepState,
	profile: NodeProfile,
): Promise<INodeExecutionData[][]> {
	const context = helper.n8n.getContext('flow') as HelperContext;
	const isFirst = context.state === undefined;
	const state = (context.state ??= { ...given });
	// Store a stop by the user in the context (`state`): after a stop, n8n's workers store neither output nor error of a node.
	onAbort(helper.signal, () => (state.stopped = state.over = true));
	const [item] = helper.items;
	if (isResult(item)) context.result ??= helper.items;
	const { result } = context;
	const needsTable = !profile.createsNothing;
	const listens = async () => await listen(helper, context, state, item, needsTable);
	const stopped = [[messageItem({ stopped: true })]];
	const of = { node: helper.node, step: state.step, noun: profile.noun };
	// After a restart, an execution must not fall asleep or end before n8n's crash recovery has ended (`n8nStarted`). After a
	// stop, it must not start another helper workflow: n8n would run that one all the same.
	switch (role) {
		case 'startWaves': {
			if (result) return nothing();
			if (!isFirst) await listens();
			if (helper.signal.aborted) return stopped;
			if (getsNoResults(state)) return nothing();
			const { execution, output } = await start(helper, state, wavesWorkflow(of));
			if (execution !== null) context.waves = { execution, dueAt: state.wakeAt };
			return output;
		}
		case 'wave': {
			const isDue = !state.over && !result;
			if (isDue) await n8nStarted(helper, needsTable);
			if (helper.signal.aborted) return stopped;
			return isDue ? await nextWave(helper, state, profile) : nothing();
		}
		case 'collect':
			if (result) return nothing();
			if (state.over) await listens();
			if (helper.signal.aborted) return stopped;
			if (!state.over || getsNoResults(state)) return nothing();
			// The results workflow begins with a sleep, so that this execution sleeps, too. Otherwise, a crash while results
			// are fetched would lose the last wave's report, and n8n would copy the result files into this execution.
			return (await start(helper, state, resultsWorkflow(of, state.hasFiles))).output;
		case 'report':
			await n8nStarted(helper, needsTable);
			if (result) return [result];
			if (state.over) await listens();
			return helper.signal.aborted ? stopped : [[messageItem({ report: state })]];
		default: {
			await n8nStarted(helper, needsTable);
			if (!result) await listens();
			if (!result) return await unfinished(helper, state, profile);
			const { failure, empty } = messageIn(result[0]) ?? {};
			throwFailure(helper, failure);
			return [empty ? [] : result];
		}
	}
}

/** True if the step gets no results: it was stopped, or too many helper executions have failed in a row. */
function getsNoResults({ stopped, dead }: SleepState): boolean {
	return stopped || dead >= MOST_DEAD;
}

/** The pause after n8n has refused to start a helper workflow, for example because n8n's database is locked. */
const PAUSE_MS = 5_000;

/** Starts a helper workflow. If that sleeps, its result later becomes the node's output. `execution`: `null` on failure. */
async function start(helper: Step, state: SleepState, workflow: IWorkflowBase) {
	const awaitedBy = { execution: helper.execution, node: helper.node.name };
	const message = messageItem({ state: { ...state, awaitedBy } });
	const started = await toResult(async () => await runHelper(helper, workflow, [message]));
	if (started.ok) {
		const { execution, output } = started.value;
		return { execution, output: output ? [output] : asleep() };
	}
	await wallClock.sleep(PAUSE_MS, helper.signal);
	return { execution: null, output: [[{ json: { error: (started.error as Error).message } }]] };
}

/** True if the item is part of the step's result: an output item, or the message that the step failed or has no items. */
function isResult(item: INodeExecutionData): boolean {
	const message = messageIn(item);
	if (!message) return deathIn(item) === null;
	return message.failure !== undefined || message.empty === true;
}

/**
 * If an execution of the waves dies this long after its first wave was due, some of its waves succeeded, so `dead` becomes
 * 0. n8n would have noticed the death of the first wave sooner: within about three minutes.
 */
const LIVELY_MS = 600_000;

/** Updates the state with the result of the helper execution that the previous node started. */
async function listen(
	helper: Step,
	context: HelperContext,
	state: SleepState,
	item: INodeExecutionData,
	needsTable: boolean,
): Promise<void> {
	const message = messageIn(item);
	const { waves } = context;
	// An empty message means that the previous node started no helper execution, so there is no result to handle.
	if (!waves && message && Object.keys(message).length === 0) return;
	delete context.waves;
	await n8nStarted(helper, needsTable);
	if (message?.report) return takeIn(state, message.report);
	if (message?.stopped) {
		state.stopped = state.over = true;
		return;
	}
	// The helper execution ended without a report. If it ran waves, n8n may still have its state from its last sleep.
	const left = waves ? await stateOf(helper, waves.execution, state) : null;
	if (left) takeIn(state, left);
	else if (waves && wallClock.now() > waves.dueAt + LIVELY_MS) state.dead = 0;
	// If the item is still a message, n8n has not replaced it with the result of the helper execution (`Message.asleep`).
	const reason = deathIn(item) ?? (message ? 'n8n lost the result' : 'unknown');
	countDeath(state, reason);
}

/** The item that the guard returns if the user has stopped the guard or the step. */
function interrupted(state: SleepState, profile: NodeProfile): INodeExecutionData {
	const { message, description, code } = givenUp(state, profile);
	return { json: { error: sentences(message, description), error_code: code } };
}

/** The output of a step that is given up, or that sleeps no more because the step or a helper execution was stopped. */
async function unfinished(
	helper: Step,
	state: SleepState,
	profile: NodeProfile,
): Promise<INodeExecutionData[][]> {
	const step = helper.signal.aborted ? null : await stepOf(helper, state);
	// The guard or the step was stopped, so no execution waits for this output.
	if (step === null && state.stopped) return [[interrupted(state, profile)]];
	const error = givenUp(state, profile);
	if (step === null) throw nodeError(helper, error, 0);
	const plans = await planItems(step, profile.plan);
	// Unlike `error`, these errors name the generations of the step. So the step fails with one of these errors.
	const errors = await lastKnown(step, plans, state, error);
	const ends = errors.map((one, itemIndex) => ({ kind: 'error', error: one, itemIndex }) as const);
	const shown = errors.find(({ code }) => code === error.code) ?? error;
	if (!continuesOnError(step)) throw stepError(step, shown, 0, ends);
	return [outputItems(step, ends)];
}

function givenUp(state: SleepState, profile: NodeProfile) {
	const { dead, stopped, lastDeath } = state;
	const what = `The ${profile.noun} ended`;
	if (stopped) return endedEarly(profile, what, '', { cause: ': a helper execution was stopped' });
	const details = lastDeath && `The last of them ended with: ${lastDeath}`;
	const first = 'Fix the cause first.';
	const cause =
		dead >= MOST_DEAD
			? `: ${dead} helper executions in a row failed`
			: ': it needed more helper executions than a step may start';
	return endedEarly(profile, what, details, { first, cause });
}
