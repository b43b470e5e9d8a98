import type { KnownGeneration } from '../../../client/wire/errors';
import { KeyedExecution, type Ran } from './keyed-execution';
import type { KeyedSchedule, Planned } from './keyed-schedule';
import { KeyedWorld } from './keyed-world';

/** How long after everything it is before what came of it is looked at: longer than anybody is waited for. */
const LONG_AFTER_MS = 180_000;

const calm: Planned = {
	startMs: 0,
	diesAfterMs: null,
	stopsAfterMs: null,
	tries: 1,
	maxConcurrent: 5,
	stopOnError: false,
	onUncertainCharge: 'error',
};

/** Plays a schedule, and then twice more in calm weather. Throws where a promise is broken. */
export async function playKeyed(schedule: KeyedSchedule): Promise<KeyedWorld> {
	const world = new KeyedWorld(schedule);
	const { time } = world;
	const all = schedule.executions.map(async (planned) => {
		await time.sleep(planned.startMs);
		await new KeyedExecution(world, planned).run();
	});
	await time.run(Promise.all(all));
	await time.run(time.sleep(LONG_AFTER_MS));
	world.calm = true;
	judge(world, await time.run(new KeyedExecution(world, calm).run()), 'error');
	const last = { ...calm, onUncertainCharge: 'resubmit' as const };
	judge(world, await time.run(new KeyedExecution(world, last).run()), 'resubmit');
	world.assertKept();
	return world;
}

/** Everything that was paid is handed on, or said to be uncertain where nobody can know. */
function judge(world: KeyedWorld, ran: Ran | null, onUncertainCharge: 'error' | 'resubmit'): void {
	world.assertKept();
	if (ran === null) throw world.failure('A calm execution did not end');
	const idOf = new Map<number, string>();
	ran.outcomes.forEach((outcome, item) => {
		const key = world.schedule.keys[item];
		const blame = (what: string) => {
			throw world.failure(`Item ${item}, key ${key}: ${what}`);
		};
		if (outcome.kind === 'done') {
			const { id } = outcome.generation as KnownGeneration;
			if (!world.live(key).includes(id)) blame(`${id} is not paid for`);
			if (idOf.get(key) !== undefined && idOf.get(key) !== id) blame('its twin has another one');
			idOf.set(key, id);
			const durable = world.durable(key);
			if (durable.length > 0 && !durable.includes(id)) blame('what is on record is not handed on');
			return;
		}
		if (outcome.kind === 'stopped') return blame('stopped in calm weather');
		if (outcome.error.code !== 'uncertain_charge') {
			return blame(`${outcome.error.code}: ${outcome.error.message}`);
		}
		if (onUncertainCharge === 'resubmit') blame('uncertain, although it may be sent again');
		if (!world.unsure.has(key)) blame('called uncertain, but everything is known');
	});
}
