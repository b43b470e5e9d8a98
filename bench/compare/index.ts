import { setTimeout as delay } from 'node:timers/promises';

import type { RequestRecord } from '../../sandbox/books/requests';
import { errorOf } from '../../tools/n8n/executions';
import { megabytes, type Row, type Tables } from '../report';
import { Stage, Trial, type VideoOrder } from './stage';
import { approaches, type Approach } from './workflows';

const USUAL: VideoOrder = { videos: 20, seconds: 20, limit: 10 };
const QUICK: VideoOrder = { videos: 4, seconds: 5, limit: 10 };
/** The downloads whose memory is measured. The videos are ready at once: a wait needs no memory. */
const LARGE: VideoOrder = { videos: 10, seconds: 0.01, limit: 10, size: '50MB' };
const MOST_TRIES = 4;
/** Short, because charges do not depend on time. Not 0, because each approach must wait for a generation. */
const BRIEF_SECONDS = 0.01;

interface Speed {
	/** Time from the start of the execution to its end. */
	seconds: number;
	/** Requests for a video, including its download, and without those for the balance of a step that is run by hand. */
	requestsPerVideo: number;
	/** Requests for the first byte, which cost the service nothing (spec 4.3). */
	probesPerVideo: number;
}

/** What was charged until all videos were completed, after one failure. */
interface Recovery {
	credits: number;
	/** Number of videos that were charged and not needed. */
	paidTwice: number;
}

interface Stop {
	/** Number of videos that were charged, and of these whose IDs are in the execution or in n8n's log. */
	paid: number;
	idsKept: number;
}

/** The measurements of one approach. */
export interface Measurements {
	approach: string;
	speed: Speed;
	failedGeneration: Recovery;
	refusedRequest: Recovery;
	stop: Stop;
	/** Bytes by which n8n grows at most while it creates and downloads large videos. */
	growthBytes: number;
}

/** Compares this package with other approaches, in one real n8n and with one sandbox. Takes about 30 minutes. */
export async function compare(quick: boolean): Promise<Tables> {
	const order = quick ? QUICK : USUAL;
	const stage = await Stage.open();
	try {
		await warmUp(stage);
		// All but ours at the same time: they do nothing while they wait, so they do not slow each other down.
		const [ours, ...others] = approaches;
		const timed = async (approach: Approach) => await measureSpeed(stage, approach, order);
		const speeds = [await timed(ours), ...(await Promise.all(others.map(timed)))];
		const measured = await Promise.all(
			approaches.map(async (approach, index) => {
				const [failedGeneration, refusedRequest, stop] = await Promise.all([
					measureRecovery(stage, approach, order, 'failed generation'),
					measureRecovery(stage, approach, order, 'refused request'),
					measureStop(stage, approach, order),
				]);
				const speed = speeds[index];
				return { approach: approach.name, speed, failedGeneration, refusedRequest, stop };
			}),
		);
		const all: Measurements[] = [];
		for (const [index, approach] of approaches.entries()) {
			const growthBytes = await measureMemory(stage, approach, quick ? QUICK : LARGE);
			all.push({ ...measured[index], growthBytes });
		}
		return { compare: sideBySide(all) };
	} finally {
		await stage.close();
	}
}

/** Returns the comparison as a table with a column for each approach. Times are compared with the first. */
export function sideBySide(all: Measurements[]): Row[] {
	const [first] = all;
	const line = (name: string, tell: (one: Measurements) => string): Row => ({
		'': name,
		...Object.fromEntries(
			all.map((one) => [one === first ? `**${one.approach}**` : one.approach, tell(one)]),
		),
	});
	const paid = ({ credits, paidTwice }: Recovery) =>
		`${credits} credits${paidTwice === 0 ? '' : `, ${paidTwice} videos paid twice`}`;
	const time = (one: Measurements) => {
		const times = (one.speed.seconds / first.speed.seconds).toFixed(1);
		return `${Math.round(one.speed.seconds)} s${one === first ? '' : ` (${times} times)`}`;
	};
	return [
		line('time', time),
		line('requests per video, with the download', ({ speed }) => speed.requestsPerVideo.toFixed(1)),
		line('storage probes per video', ({ speed }) => speed.probesPerVideo.toFixed(0)),
		line('paid, after the 15th video failed', ({ failedGeneration }) => paid(failedGeneration)),
		line('paid, after the 15th request got a 500', ({ refusedRequest }) => paid(refusedRequest)),
		line('paid IDs still known after Stop', ({ stop }) => `${stop.idsKept} of ${stop.paid}`),
		line('additional memory, for 10 files of 50 MB', ({ growthBytes }) => megabytes(growthBytes)),
	];
}

/** Makes one video with each approach, because the first run loads code. Throws unless all cost the same. */
async function warmUp(stage: Stage): Promise<void> {
	const prices = approaches.map(async (approach) => {
		const order = { videos: 1, seconds: 1, limit: 1 };
		const trial = await Trial.prepare(stage, approach, 'warm-up', order);
		trial.requireAll(await trial.run());
		return trial.credits;
	});
	const different = new Set(await Promise.all(prices));
	if (different.size > 1) throw new Error('Not all make the same video.');
}

async function measureSpeed(stage: Stage, approach: Approach, order: VideoOrder): Promise<Speed> {
	const trial = await Trial.prepare(stage, approach, 'speed', order);
	const execution = await trial.run();
	trial.requireAll(execution);
	const { startedAt, stoppedAt } = execution;
	const seconds = (Date.parse(stoppedAt ?? '') - Date.parse(startedAt)) / 1000;
	console.log(`${approach.name}: ${seconds.toFixed(1)} s`);
	const perVideo = (isCounted: (request: RequestRecord) => boolean) =>
		trial.requests.filter(isCounted).length / order.videos;
	return {
		seconds,
		requestsPerVideo: perVideo(({ on }) => on !== 'probe' && on !== 'credits'),
		probesPerVideo: perVideo(({ on }) => on === 'probe'),
	};
}

/**
 * Measures the charges if one video fails three quarters into the list. The simulated user then presses "Retry", and
 * runs the workflow again if the retry ends with an error too.
 */
async function measureRecovery(
	stage: Stage,
	approach: Approach,
	order: VideoOrder,
	mishap: 'failed generation' | 'refused request',
): Promise<Recovery> {
	const brief = { ...order, seconds: BRIEF_SECONDS };
	const trial = await Trial.prepare(stage, approach, mishap, brief);
	const promptIncludes = trial.prompts[Math.ceil(order.videos * 0.75) - 1];
	const action =
		mishap === 'failed generation'
			? ({ kind: 'fail' } as const)
			: ({ kind: 'error', code: 'server_error' } as const);
	stage.sandbox.faults.order({ on: 'create', match: { promptIncludes }, action });
	let execution = await trial.run();
	for (let tries = 0; execution.status !== 'success'; tries++) {
		if (tries === MOST_TRIES) throw new Error(`${trial.name}: ${errorOf(execution)}`);
		execution =
			execution.mode === 'retry'
				? await trial.run()
				: await trial.ended(await stage.executions.retry(execution.id));
	}
	const live = trial.generations.filter(({ charged, refunded }) => charged > refunded).length;
	return { credits: trial.credits, paidTwice: live - order.videos };
}

/** Stops the execution 75 % into the last round of videos, and looks for the IDs of charged videos. */
async function measureStop(stage: Stage, approach: Approach, order: VideoOrder): Promise<Stop> {
	const trial = await Trial.prepare(stage, approach, 'stop', order);
	const id = await trial.start();
	const rounds = Math.ceil(order.videos / order.limit);
	await delay((rounds - 0.25) * order.seconds * 1000);
	await stage.executions.stop(id);
	const { data } = await stage.executions.read(id);
	const known = JSON.stringify(data) + (await stage.log());
	const { generations } = trial;
	return {
		paid: generations.length,
		idsKept: generations.filter((generation) => known.includes(generation.id)).length,
	};
}

/** Measures by how much a new n8n grows while it creates and downloads videos, after a first small one. */
async function measureMemory(stage: Stage, approach: Approach, order: VideoOrder): Promise<number> {
	await stage.restart();
	const first = { videos: 1, seconds: BRIEF_SECONDS, limit: 1 };
	const warmUp = await Trial.prepare(stage, approach, 'memory, first', first);
	warmUp.requireAll(await warmUp.run());
	const trial = await Trial.prepare(stage, approach, 'memory', order);
	const growthBytes = await stage.growthDuring(async () => trial.requireAll(await trial.run()));
	console.log(`${approach.name}: ${megabytes(growthBytes)}`);
	return growthBytes;
}
