import { others, own } from './approaches';
import type { Approach } from './approaches';
import type { Row } from './comparison';
import { measureMemory, measureRecovery, measureSpeed, measureStop } from './measure';
import type { Speed } from './measure';
import type { Stage } from './stage';
import { Trial } from './trial';
import type { VideoOrder } from './trial';

/** Reports a line after each measurement. */
type Say = (line: string) => void;

/** Which approaches to measure: all, or only this package. */
export type Which = 'all' | 'ours';

/** The warm-up order, because the first run of an approach loads code. */
const first: VideoOrder = { videos: 1, seconds: 1, limit: 1 };

/**
 * Measures the approaches.
 *
 * @returns one row for each approach, ours first
 */
export async function compare(
	stage: Stage,
	order: VideoOrder,
	say: Say,
	which: Which = 'all',
): Promise<Row[]> {
	const approaches = which === 'all' ? [own, ...others] : [own];
	await warmUp(stage, approaches);
	const speeds = await compareSpeed(stage, approaches, order, say);
	const misfortunes = await compareMisfortune(stage, approaches, order);
	say('Failures and Stop: done');
	const memory = await compareMemory(stage, approaches, order, say);
	return approaches.map(({ name }, index) => ({
		approach: name,
		speed: speeds[index],
		memoryBytes: memory[index],
		...misfortunes[index],
	}));
}

/** Makes one video with each approach. Throws unless all cost the same. */
async function warmUp(stage: Stage, approaches: Approach[]): Promise<void> {
	const prices = approaches.map(async (approach) => {
		const trial = await Trial.prepare(stage, approach, 'warm-up', first);
		trial.requireAll(await trial.run());
		return trial.credits;
	});
	const different = new Set(await Promise.all(prices));
	if (different.size > 1) throw new Error('Not all make the same video.');
}

/**
 * Measures our package alone, then the others in parallel, each with a separate account. They do nothing while they
 * wait for their videos, so running in parallel does not slow them down.
 */
async function compareSpeed(
	stage: Stage,
	[ours, ...rest]: Approach[],
	order: VideoOrder,
	say: Say,
): Promise<Speed[]> {
	const timed = async (approach: Approach): Promise<Speed> => {
		const speed = await measureSpeed(stage, approach, order);
		say(`${approach.name}: ${speed.seconds.toFixed(1)} s`);
		return speed;
	};
	return [await timed(ours), ...(await Promise.all(rest.map(timed)))];
}

/** Measures all approaches in parallel, because this counts credits and requests and not time. */
async function compareMisfortune(
	stage: Stage,
	approaches: Approach[],
	order: VideoOrder,
): Promise<Array<Pick<Row, 'failedGeneration' | 'refusedRequest' | 'stop'>>> {
	return await Promise.all(
		approaches.map(async (approach) => {
			const [failedGeneration, refusedRequest, stop] = await Promise.all([
				measureRecovery(stage, approach, order, 'failed generation'),
				measureRecovery(stage, approach, order, 'refused request'),
				measureStop(stage, approach, order),
			]);
			return { failedGeneration, refusedRequest, stop };
		}),
	);
}

/** Measures one approach after the other, because all run in the same process. */
async function compareMemory(
	stage: Stage,
	approaches: Approach[],
	order: VideoOrder,
	say: Say,
): Promise<number[]> {
	const memory: number[] = [];
	for (const approach of approaches) {
		const bytes = await measureMemory(stage, approach, order);
		say(`${approach.name}: ${Math.round(bytes / 1024 ** 2)} MB`);
		memory.push(bytes);
	}
	return memory;
}
