import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import { errorOf } from '../../tools/n8n/executions';
import type { Approach } from './approaches';
import type { Stage } from './stage';
import { Trial } from './trial';
import type { VideoOrder } from './trial';

export interface Speed {
	/** From the start of the execution to its end. */
	seconds: number;
	/** Everything that the service was asked for each video, and what was downloaded. */
	requestsPerVideo: number;
	/** How often its storage was asked for a first byte, for each video: that costs the service nothing (spec 4.3). */
	probesPerVideo?: number;
}

/** What was paid until all videos were there, after something had gone wrong once. */
export interface Recovery {
	credits: number;
	/** Videos that were paid for and not needed. */
	paidTwice: number;
}

export interface Stop {
	/** Requests that arrived after n8n had confirmed the stop. */
	requestsAfter: number;
	/** Videos paid for in all. */
	paid: number;
	/** Those whose ids are in the execution or in n8n's log. */
	idsKept: number;
}

/** What goes wrong with one of the videos. */
export type Mishap = 'failed generation' | 'refused request';

const watchMs = 30_000;
const sampleMs = 100;
const mostTries = 4;
/** Short, as money does not depend on time; not none, as a generation has to be waited for. */
const briefSeconds = 0.01;

/** Time and requests for all videos. */
export async function measureSpeed(
	stage: Stage,
	approach: Approach,
	order: VideoOrder,
): Promise<Speed> {
	const trial = await Trial.prepare(stage, approach, 'speed', order);
	const execution = await trial.run();
	trial.requireAll(execution);
	const { startedAt, stoppedAt } = execution;
	const seconds = (Date.parse(stoppedAt ?? '') - Date.parse(startedAt)) / 1000;
	const probes = trial.requests.filter(({ on }) => on === 'probe').length;
	return {
		seconds,
		requestsPerVideo: (trial.requests.length - probes) / order.videos,
		probesPerVideo: probes / order.videos,
	};
}

/** The most by which the resident memory of an n8n that has just started grows, in bytes. */
export async function measureMemory(
	stage: Stage,
	approach: Approach,
	order: VideoOrder,
): Promise<number> {
	await stage.restart();
	const brief = { ...order, seconds: briefSeconds };
	// The first video loads code: that belongs to no batch.
	const first = await Trial.prepare(stage, approach, 'memory, first', { ...brief, videos: 1 });
	first.requireAll(await first.run());
	const trial = await Trial.prepare(stage, approach, 'memory', brief);
	const { pid } = stage.n8n.service;
	const before = await residentBytes(pid);
	const running = trial.run();
	const peak = await peakUntil(pid, running);
	trial.requireAll(await running);
	return peak - before;
}

async function peakUntil(pid: number, running: Promise<unknown>): Promise<number> {
	let peak = 0;
	let over = false;
	const end = () => (over = true);
	running.then(end, end);
	while (!over) {
		peak = Math.max(peak, await residentBytes(pid));
		await delay(sampleMs);
	}
	return peak;
}

async function residentBytes(pid: number): Promise<number> {
	const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
	return Number(stdout) * 1024;
}

/**
 * Something goes wrong with a video three quarters into the list. Then the user does what is there to
 * do: presses "Retry", and where that ends in an error too, runs the workflow again.
 */
export async function measureRecovery(
	stage: Stage,
	approach: Approach,
	order: VideoOrder,
	mishap: Mishap,
): Promise<Recovery> {
	const brief = { ...order, seconds: briefSeconds };
	const trial = await Trial.prepare(stage, approach, mishap, brief);
	const promptIncludes = trial.prompts[Math.ceil(order.videos * 0.75) - 1];
	const action =
		mishap === 'failed generation'
			? ({ kind: 'fail' } as const)
			: ({ kind: 'error', code: 'server_error' } as const);
	stage.sandbox.faults.order({ on: 'create', match: { promptIncludes }, action });

	let execution = await trial.run();
	for (let tries = 0; execution.status !== 'success'; tries++) {
		if (tries === mostTries) throw new Error(`${trial.name}: ${errorOf(execution)}`);
		execution =
			execution.mode === 'retry'
				? await trial.run()
				: await trial.ended(await stage.executions.retry(execution.id));
	}
	const live = trial.generations.filter(({ charged, refunded }) => charged > refunded).length;
	return { credits: trial.credits, paidTwice: live - order.videos };
}

/** Stops the execution when the last round at the limit is well under way, and watches what comes after. */
export async function measureStop(
	stage: Stage,
	approach: Approach,
	order: VideoOrder,
): Promise<Stop> {
	const trial = await Trial.prepare(stage, approach, 'stop', order);
	const id = await trial.start();
	const rounds = Math.ceil(order.videos / order.limit);
	await delay((rounds - 0.25) * order.seconds * 1000);
	await stage.executions.stop(id);
	const stopped = Date.now();
	await delay(watchMs);

	const { data } = await stage.executions.read(id);
	const known = JSON.stringify(data) + (await stage.log());
	const { generations, requests } = trial;
	return {
		requestsAfter: requests.filter(({ at }) => at > stopped).length,
		paid: generations.length,
		idsKept: generations.filter((generation) => known.includes(generation.id)).length,
	};
}
