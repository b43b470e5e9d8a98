import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { RequestRecord } from '../../sandbox/books/requests';
import { errorOf } from '../../tools/n8n/executions';
import type { Approach } from './approaches';
import type { Stage } from './stage';
import { Trial } from './trial';
import type { VideoOrder } from './trial';

export interface Speed {
	/** Time from the start of the execution to its end. */
	seconds: number;
	/**
	 * Number of requests for a video, including its download. Requests for the balance, one before and one after a step
	 * that is run by hand, are not for a video.
	 */
	requestsPerVideo: number;
	/** Number of storage probes (requests for the first byte) per video. They cost the service nothing (spec 4.3). */
	probesPerVideo?: number;
}

/** What was charged until all videos were completed, after one failure. */
export interface Recovery {
	credits: number;
	/** Number of videos that were charged and not needed. */
	paidTwice: number;
}

export interface Stop {
	/** Requests that arrived after n8n had confirmed the stop. */
	requestsAfter: number;
	/** Total number of videos that were charged. */
	paid: number;
	/** Number of these whose ids are in the execution or in n8n's log. */
	idsKept: number;
}

/** The failure of one of the videos. */
export type Mishap = 'failed generation' | 'refused request';

const watchMs = 30_000;
const sampleMs = 100;
const mostTries = 4;
/** Short, because charges do not depend on time. Not 0, because each approach must wait for a generation. */
const briefSeconds = 0.01;

/** Measures the time and the requests for all videos. */
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
	const perVideo = (isCounted: (request: RequestRecord) => boolean) =>
		trial.requests.filter(isCounted).length / order.videos;
	return {
		seconds,
		requestsPerVideo: perVideo(({ on }) => on !== 'probe' && on !== 'credits'),
		probesPerVideo: perVideo(({ on }) => on === 'probe'),
	};
}

/** Returns the maximum growth of the resident memory of a freshly started n8n, in bytes. */
export async function measureMemory(
	stage: Stage,
	approach: Approach,
	order: VideoOrder,
): Promise<number> {
	await stage.restart();
	const brief = { ...order, seconds: briefSeconds };
	// The first video loads code, which is not part of the cost of a batch.
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
 * Measures the charges if one video fails three quarters into the list. The simulated user then presses "Retry", and
 * runs the workflow again if the retry ends with an error too.
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

/** Stops the execution 75 % into the last round of videos, and watches which requests follow. */
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
