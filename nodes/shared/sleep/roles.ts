import type { INodeExecutionData, IPairedItemData, NodeApiError } from 'n8n-workflow';

import { isOutage, type GenerationError } from '../../../client/api/errors';
import { toResult, type Result } from '../../../client/async';
import { isBeyondLimit } from '../../../client/orders/spend-guard';
import { planItems, type Plan } from '../form/plan-items';
import { secretOf, termsOf } from '../helper-workflow';
import { wallClock } from '../http/clock';
import { causeOf } from '../output/node-error';
import { failureOf } from '../output/results';
import { n8nStarted } from './crash-recovery';
import { failureItem, notAsleep } from './failure';
import { otherVersion } from './other-version';
import type { Sleeper } from './sleeper';
import {
	COLLECTIONS,
	isCurrent,
	isState,
	messageIn,
	messageItem,
	roleOf,
	ROLE_PARAMETER,
	type WaveOrder,
	type Role,
} from './state';
import { isAwaited, stepOf, unlessStopped } from './executions';
import { supervise } from './supervise';
import type { Step } from '../step';

/** True if a node runs in a helper workflow of a step that sleeps, and not in a workflow of the user. */
export function isHelper({ node }: Pick<Step, 'node'>): boolean {
	return (node.parameters?.[ROLE_PARAMETER] ?? '') !== '';
}

/**
 * Runs a node in a helper workflow of a step that sleeps.
 *
 * @returns the items of the node's output
 * @throws NodeApiError as the step does
 */
export async function runAsHelper(helper: Step, sleeper: Sleeper): Promise<INodeExecutionData[][]> {
	const role = roleOf(helper.node.parameters[ROLE_PARAMETER]);
	if (role === null || secretOf(helper) === null) throw await foreign(helper, role, sleeper);
	if (role === 'sleep' || role === 'work' || role === 'deliver')
		return await asWave(helper, sleeper, role);
	return await supervise(helper, role, sleeper);
}

/**
 * The error of a node with an unknown role, or of one without a secret. Either another release has stored the step, or
 * the workflow is not a helper workflow. Nothing proves that the node may read the step, so the error names only what
 * the node's own execution has stored.
 */
async function foreign(helper: Step, role: Role | null, sleeper: Sleeper): Promise<NodeApiError> {
	const { batch } = helper.n8n.getContext('flow') as { batch?: unknown };
	// Only the error of the guard's last node reaches the user. An unknown role may be that of such a node.
	const isEnd = role === null || role === 'return';
	return isEnd && isState(batch)
		? await otherVersion(helper, [batch], sleeper)
		: notAsleep(helper, sleeper);
}

type WaveRole = 'sleep' | 'work' | 'deliver';

/**
 * Runs a node of a wave, or of the workflow that fetches the results. If an error is thrown, n8n keeps the execution.
 * If the user's workflow keeps no failed executions, the error is therefore returned, in an item like the one that n8n
 * makes of the error of a failed helper workflow.
 */
async function asWave(helper: Step, sleeper: Sleeper, role: WaveRole) {
	const ran = await toResult(async () => await runRole(helper, sleeper, role));
	if (ran.ok) return ran.value;
	if (termsOf(helper)?.errors !== 'none') throw ran.error;
	return [[{ json: { error: (ran.error as Error).message } }]];
}

async function runRole(
	helper: Step,
	sleeper: Sleeper,
	role: WaveRole,
): Promise<INodeExecutionData[][]> {
	const input = helper.items;
	const order = messageIn(input[0])?.order;
	if (!isState(order)) throw notAsleep(helper, sleeper);
	if (role === 'sleep') {
		// The next node reports an order that cannot be read.
		if (isCurrent(order)) await sleepUntil(helper, order);
		return [input];
	}
	// Before the step is read: it may be stopped meanwhile, and the error of another release reads the data table.
	await n8nStarted(helper, !sleeper.createsNothing);
	const found = await toResult(async () => await stepOf(helper, order, sleeper));
	if (!found.ok) return [[failureItem(found.error)]];
	const step = found.value;
	if (step === null) {
		const ids = sleeper.lost?.(order) ?? [];
		const what = `"${order.step}" was stopped. Charged, and not in the data table`;
		if (ids.length > 0) helper.n8n.logger.warn(`${what}: ${ids.join(', ')}`, { generations: ids });
	}
	// A supervisor that does not wait was killed. The guard goes on with its state.
	if (step === null || !(await isAwaited(helper, order))) return [[messageItem({ stopped: true })]];
	const plans = await planItems(step, sleeper.plan);
	return role === 'work'
		? [[await work(step, sleeper, plans, order)]]
		: await deliver(step, sleeper, plans, order);
}

/** n8n may need a minute to wake an execution, so the results are not worth a shorter sleep than this. */
const BRIEF_MS = 10_000;

/**
 * Sleeps until the time in the order. If a node waits for this execution (`by`), it always sleeps in n8n, so that the
 * waiting execution is asleep before this one ends. Otherwise, a pause of up to `BRIEF_MS` is spent awake.
 */
async function sleepUntil(helper: Step, { wakeAt, by }: WaveOrder): Promise<void> {
	const pauseMs = wakeAt - wallClock.now();
	if (by || pauseMs > BRIEF_MS) return await helper.n8n.putExecutionToWait(new Date(wakeAt));
	await wallClock.sleep(Math.max(0, pauseMs), helper.signal);
}

async function work(
	step: Step,
	sleeper: Sleeper,
	plans: Array<Result<Plan[]>>,
	order: WaveOrder,
): Promise<INodeExecutionData> {
	const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
	const { result: report, stopped } = await unlessStopped(
		step,
		order,
		sleeper,
		async (awake) => await sleeper.work(awake, planned, order),
	);
	if (!stopped) return messageItem({ report });
	await sleeper.stopped?.(step, report);
	return messageItem({ report: { ...report, over: true, stopped: true } });
}

async function deliver(
	step: Step,
	sleeper: Sleeper,
	plans: Array<Result<Plan[]>>,
	order: WaveOrder,
): Promise<INodeExecutionData[][]> {
	const { result: fetched } = await unlessStopped(
		step,
		order,
		sleeper,
		async (awake) => await toResult(async () => await sleeper.results(awake, plans, order)),
	);
	// The Timeout of a wait is a bound, also while the service is down.
	const mayWait = !sleeper.createsNothing && order.collections < COLLECTIONS;
	if (mayWait && hasOutage(fetched, order)) {
		return [[messageItem({ laterAt: wallClock.now() + PAUSE_MS })]];
	}
	if (!fetched.ok) return [[failureItem(fetched.error, sleeper.howToGoOn)]];
	// n8n runs no node after one without output.
	return fetched.value.flat().length > 0 ? fetched.value : [[messageItem({ empty: true })]];
}

/** The pause before the results are fetched again. */
const PAUSE_MS = 120_000;

/** True if a result is missing because the service or its storage is down. Errors of the waves do not count. */
function hasOutage(fetched: Result<INodeExecutionData[][]>, { items }: WaveOrder): boolean {
	const hasEnded = Object.values(items).some(({ end }) => end && !isBeyondLimit(end));
	if (!fetched.ok) return !hasEnded && isDown(causeOf(fetched.error));
	return fetched.value
		.flat()
		.some((item) => !items[itemIndexOf(item)]?.end && isDown(failureOf(item)));
}

function itemIndexOf({ pairedItem }: INodeExecutionData): number {
	return (pairedItem as IPairedItemData).item;
}

/** True if a later try may succeed. A file that is missing or has no URL does not count: it was waited for already. */
function isDown(error: GenerationError | undefined): boolean {
	if (!error || !isOutage(error)) return false;
	const { code, status, generation } = error;
	return code !== 'download_failed' || (generation?.url !== null && (status ?? 500) >= 500);
}
