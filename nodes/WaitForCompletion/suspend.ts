import type { INodeExecutionData } from 'n8n-workflow';

import { GenerationError, isOutage } from '../../client/api/errors';
import { hasEnded } from '../../client/step/wave-plan';
import { isFinalState } from '../../client/api/states';
import type { Result } from '../../client/async';
import type { CollectJob, Job } from '../../client/jobs/job';
import { errorOfJob, type Outcome } from '../../client/jobs/outcome';
import type { StatusCheck, StatusChecks } from '../../client/watch/status-requests';
import { continuesOnError } from '../shared/execution';
import type { Plan } from '../shared/form/plan-items';
import { wallClock } from '../shared/http/clock';
import { runBriefly, runNode, runToEnd, type Failures } from '../shared/run/run-node';
import { traceStep } from '../shared/output/trace';
import { runPlans, startOf, type StepStart } from '../shared/run/run-plans';
import { type Step, evaluatingOnce } from '../shared/step';
import { polledHint, whyNotSleep } from '../shared/sleep/can-sleep';
import { fallAsleep, hasFiles } from '../shared/sleep/fall-asleep';
import type { Sleeper } from '../shared/sleep/sleeper';
import {
	endsOf,
	newState,
	STORED_VERSION,
	type Report,
	type SleepState,
} from '../shared/sleep/state';
import { waitFields } from './fields';
import { planWait } from './request';
import { LEAST_TIMEOUT_MS, SHORTEST_SLEEP_MS, sleepMs } from './schedule';

/** The suspended wait: a step that sleeps, with nothing to create. Each wave checks every open generation once. */

interface WaitState extends SleepState {
	/** When the wait began, in milliseconds since the Unix epoch. */
	since: number;
	/** The last status check of each generation, by its id. */
	checks: Record<string, StatusCheck>;
}

export const suspendedWait: Sleeper<WaitState> = {
	noun: 'suspended wait',
	createsNothing: true,
	howToGoOn:
		'Wait for the same generations again by their IDs in a new execution, at no charge. Retry in the executions list only shows this error again, without a new status check',
	fields: waitFields,
	plan: planWait,
	work: checkOnce,
	results: async (step, plans, state) => {
		const start = await startOf(step, checksOf(state));
		const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
		return await runToEnd(step, start, sinceThen(planned, state.since), failuresOf(plans, state));
	},
	lastKnown: async (_, plans, state, error) => {
		const failures = failuresOf(plans, state);
		return await Promise.resolve(
			plans.map((plan, itemIndex): Outcome<never> => {
				const own = failures[itemIndex].at(0);
				if (own || !plan.ok) return { kind: 'error', error: own ?? error };
				const { id } = plan.value[0].job as CollectJob;
				const known = state.checks[id]?.known?.item;
				const generation = { id, status: known?.status ?? null };
				return { kind: 'error', error: error.with({ generation }) };
			}),
		);
	},
};

/** Runs a step of the user's workflow that is set to suspend: it polls for a short time, and then sleeps. */
export async function runSuspended(step: Step): Promise<INodeExecutionData[][]> {
	return await runNode(evaluatingOnce(step), planWait, beginWait);
}

async function beginWait(
	step: Step,
	start: StepStart,
	planned: Plan[],
	failures: Failures,
): Promise<INodeExecutionData[][] | null> {
	const reason = whyNotSleep(step);
	if (reason !== null) {
		polledHint(step, reason);
		return null;
	}
	const maySleep = planned.some(({ job }) => job.timeoutMs >= LEAST_TIMEOUT_MS);
	if (!maySleep) {
		polledHint(step, `every Timeout is shorter than ${LEAST_TIMEOUT_MS / 1000} s`);
		return null;
	}
	const { checks, journal, startedAt } = start;
	const brief = await runBriefly(step, planned, failures, start, SHORTEST_SLEEP_MS);
	const sinceBrief = { ...start, before: { stats: brief.stats, unrecorded: [] } };
	const sleepers = brief.open.filter(({ timeoutMs }) => timeoutMs >= LEAST_TIMEOUT_MS);
	if (sleepers.length === 0) return await runToEnd(step, sinceBrief, planned, failures);
	const items = endsOf(failures);
	const state: WaitState = {
		...newState(step, journal.runIndex, items, hasFiles(step, planned)),
		since: startedAt,
		checks: Object.fromEntries(checks),
	};
	const wakeAt = nextCheckAt(sleepers, state, start.options.pollIntervalMs);
	const slept = wakeAt && (await fallAsleep(step, suspendedWait, { ...state, wakeAt }));
	if (slept) return slept;
	return await runToEnd(step, sinceBrief, sinceThen(planned, startedAt), failures);
}

/** One wave: checks the status of every generation that is still running, once. */
async function checkOnce(step: Step, planned: Plan[], state: WaitState): Promise<Report> {
	const { since, items } = state;
	const checks = checksOf(state);
	const before = new Map([...checks].map(([id, { at }]) => [id, at]));
	const start = { ...(await startOf(step, checks)), stopOnError: false };
	const open = planned.filter(({ job }) => isOpen(job, since) && !hasEnded(items, job.itemIndex));
	const once = sinceThen(open, since).map(({ job }) => ({
		job: { ...job, wait: false },
		download: null,
	}));
	const { outcomes, stats, heldUntil } = await runPlans(step, once, start);
	// The results trace how the items ended.
	traceStep(step, { stats });
	const ends = continuesOnError(step) ? false : outcomes.some(isFailure);
	const running = open.filter(
		({ job }, index) => isUnfinished(outcomes[index]) && isOpen(job, since),
	);
	const seen = [...checks].filter(([id, { at }]) => at !== before.get(id));
	const wakeAt = nextCheckAt(
		running.map(({ job }) => job),
		{ ...state, checks: Object.fromEntries(checks) },
		start.options.pollIntervalMs,
		heldUntil,
	);
	const report: Partial<WaitState> & Report = {
		v: STORED_VERSION,
		checks: Object.fromEntries(seen),
		over: ends || wakeAt === null,
		wakeAt: wakeAt ?? wallClock.now(),
		sleepsFrom: wallClock.now(),
	};
	return report;
}

/**
 * When the next check is due, in milliseconds since the Unix epoch.
 *
 * @param jobs that are waited for
 * @param heldUntil until when the service has asked to send no checks (`Retry-After`)
 * @returns `null` if nothing is left to sleep for
 */
function nextCheckAt(
	jobs: Job[],
	{ since, checks }: WaitState,
	pollIntervalMs: number,
	heldUntil = 0,
): number | null {
	if (jobs.length === 0) return null;
	const now = wallClock.now();
	const timeoutMs = jobs.reduce((most, job) => Math.max(most, job.timeoutMs), 0);
	const lastAt = jobs.reduce(
		(last, job) => Math.max(last, checks[(job as CollectJob).id]?.at ?? 0),
		0,
	);
	// A clock that was set back does not extend the sleep.
	const dueAt = Math.max(Math.min(lastAt, now) + pollIntervalMs, heldUntil);
	const pauseMs = sleepMs(now - since, timeoutMs, dueAt - now);
	return pauseMs === null ? null : now + pauseMs;
}

/** True if a job waits and has time left. */
function isOpen({ wait, timeoutMs }: Job, since: number): boolean {
	return wait && wallClock.now() < since + timeoutMs;
}

function isUnfinished(outcome: Outcome<unknown>): boolean {
	if (outcome.kind === 'stopped') return true;
	if (outcome.kind === 'error') return !isFailure(outcome);
	return !isFinalState(outcome.generation.status);
}

/** True for an error that a later check does not change. */
function isFailure(outcome: Outcome<unknown>): boolean {
	if (outcome.kind !== 'error') return false;
	return !isOutage(outcome.error) && outcome.error.code !== 'timeout';
}

function checksOf({ checks }: WaitState): StatusChecks {
	return new Map(Object.entries(checks));
}

/** The plans, with the time at which the wait of the step began. */
function sinceThen(plans: Plan[], waitingSinceMs: number): Plan[] {
	return plans.map(({ job, ...others }) => ({ ...others, job: { ...job, waitingSinceMs } }));
}

/** The errors that items had before the sleep, and those of items that this release rejects. */
function failuresOf(plans: Array<Result<Plan[]>>, { items }: WaitState): Failures {
	return plans.map((plan, itemIndex) => {
		const own = items[itemIndex]?.end;
		if (own) return [new GenerationError(own)];
		return plan.ok ? [] : [errorOfJob(plan.error, null)];
	});
}
