import { Judge } from './judge';
import type { SleepSchedule } from './schedule';
import { SleepWorld } from './world';

/** Breaks the simulated n8n or the service. The nodes themselves are unchanged. */
export type Sabotage = (world: SleepWorld) => void;

/** Time after which the result of everything is judged: longer than any execution is waited for. */
const LONG_AFTER_MS = 180_000;

/** Plays a step that sleeps, and then its items again without failures. Throws if a promise is broken. */
export async function playAsleep(
	schedule: SleepSchedule,
	sabotage?: Sabotage,
): Promise<SleepWorld> {
	const world = new SleepWorld(schedule);
	sabotage?.(world);
	try {
		await world.time.run(playIn(world));
		return world;
	} finally {
		world.end();
	}
}

async function playIn(world: SleepWorld): Promise<void> {
	const { schedule, service, time } = world;
	if (schedule.node === 'wait') await createBefore(world);
	const step = world.start();
	const hasEnded = await world.ended(step);
	const judge = new Judge(world, step);
	judge.judgeStep(hasEnded);
	await time.sleep(LONG_AFTER_MS);
	if (schedule.node === 'create') service.slots = Infinity;
	judge.judgeAgain(await world.runAgain());
}

/** The generations of a wait were created by an earlier step. */
async function createBefore(world: SleepWorld): Promise<void> {
	const { schedule, service } = world;
	const { latencyMs, slots } = service;
	Object.assign(service, { latencyMs: 0, slots: Infinity });
	for (const index of schedule.items.keys()) {
		const body = { prompt: world.promptOf(index) };
		await service.send({ method: 'POST', path: '/v1/images/generations', body });
	}
	Object.assign(service, { latencyMs, slots });
	service.seen.length = 0;
}
