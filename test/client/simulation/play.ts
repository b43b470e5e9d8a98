import { judge, type Ended } from './judge';
import { before, judgeCalm, judgeEnd, type Before } from './judge-calm';
import type { Sabotage } from './sabotage';
import { undisturbed, type Schedule, type Settings, type Try } from './schedule';
import { runNode, type Kept } from './step';
import { Transport } from './transport';
import { World } from './world';

/** How long running generations are waited for at the end. */
const PATIENCE_SECONDS = 3600;

/** Plays a schedule to its end, and then two more tries without failures. Throws if a promise is broken. */
export async function play(schedule: Schedule, sabotage?: Sabotage): Promise<World> {
	const world = new World(schedule, sabotage);
	const kept: Kept = { generations: {} };
	for (const plan of schedule.tries) await playTry(world, plan, kept);
	const { settings } = schedule.tries[schedule.tries.length - 1];
	const { result } = await playCalmTry(world, settings, 'error', kept);
	const done = result.outcomes.every(({ kind }) => kind === 'done');
	if (!done) await playCalmTry(world, settings, 'resubmit', kept);
	judgeEnd(world);
	return world;
}

/** An attempt without faults: everything possible gets done. */
async function playCalmTry(
	world: World,
	usual: Settings,
	onUncertainCharge: Settings['onUncertainCharge'],
	kept: Kept,
): Promise<Ended> {
	const settings: Settings = {
		...usual,
		maxNewGenerations: null,
		maxCredits: null,
		minimumBalance: null,
		wait: true,
		stopOnError: false,
		onTimeout: 'error',
		timeoutSeconds: PATIENCE_SECONDS,
		onUncertainCharge,
	};
	const ended = await playTry(world, { ...undisturbed, settings }, kept);
	judgeCalm(ended);
	return ended;
}

async function playTry(world: World, plan: Try, kept: Kept): Promise<Ended & Before> {
	const { time } = world;
	world.tell(() => `--- a try: ${JSON.stringify(plan.settings)}`);
	if (plan.journal === 'saved') {
		kept.generations = (JSON.parse(JSON.stringify(kept)) as Kept).generations;
	}
	const begun = before(world);
	const transport = new Transport(world, plan);
	const startedAt = time.now();
	let over = false;
	for (const { atSeconds, occupied } of plan.load) {
		time.at(startedAt + atSeconds * 1000, () => void (over || world.occupy(occupied)));
	}
	const result = await time.run(runNode(world, plan, transport, kept)).catch((error: unknown) => {
		world.blame(`The step itself failed: ${String(error)}`);
		throw world.failure();
	});
	over = true;
	world.tries++;
	if (transport.canceledAt !== null) world.stops++;
	world.occupy(0);
	const ended = { ...begun, world, plan, transport, kept, result };
	judge(ended);
	world.assertKept();
	await time.run(time.sleep(plan.pauseSeconds * 1000));
	return ended;
}
