import type { KnownGeneration } from '../../../client/api/errors';
import { edit } from './keyed-hands';
import { KeyedExecution, type Ran } from './keyed-execution';
import { calm, type KeyedSchedule } from './keyed-schedule';
import { KeyedWorld } from './keyed-world';
import type { Sabotage } from './sabotage';

/** Time after which the result of everything is judged: longer than any execution is waited for. */
const LONG_AFTER_MS = 180_000;

/** Plays a schedule, and then twice more without failures. Throws if a promise is broken. */
export async function playKeyed(schedule: KeyedSchedule, sabotage?: Sabotage): Promise<KeyedWorld> {
	const world = new KeyedWorld(schedule, sabotage);
	const { time } = world;
	const all = schedule.executions.map(async (planned) => {
		await time.sleep(planned.startMs);
		await new KeyedExecution(world, planned).run();
	});
	for (const { atMs, key, deed, newest } of schedule.edits) {
		time.at(time.now() + atMs, () => edit(world, key, deed, newest));
	}
	const { sleep } = schedule;
	if (sleep) {
		time.at(time.now() + sleep.atMs, () => {
			world.tell(`the machine sleeps for ${sleep.ms} ms`);
			world.pauses++;
			world.machine.wakesAt = time.now() + sleep.ms;
		});
	}
	await time.run(Promise.race([Promise.all(all), world.broken]));
	world.assertKept();
	await time.run(time.sleep(LONG_AFTER_MS));
	world.calm = true;
	for (const onUncertainCharge of ['error', 'resubmit'] as const) {
		const last = new KeyedExecution(world, { ...calm, onUncertainCharge });
		judge(world, last, await time.run(Promise.race([last.run(), world.broken])));
	}
	judgeRows(world);
	world.assertKept();
	return world;
}

/** Everything charged is returned, or reported as uncertain if the charge cannot be known. */
function judge(world: KeyedWorld, execution: KeyedExecution, ran: Ran | null): void {
	const { onUncertainCharge } = execution.planned;
	world.assertKept();
	if (ran === null) throw world.failure('A calm execution did not end');
	const idOf = new Map<number, string>();
	ran.outcomes.forEach((outcome, item) => {
		const key = execution.keyOf(item);
		const blame = (what: string) => {
			throw world.failure(`Item ${item}, key ${key}: ${what}`);
		};
		if (outcome.kind === 'done') {
			const { id } = outcome.generation as KnownGeneration;
			if (idOf.get(key) !== undefined && idOf.get(key) !== id) blame('its twin has another one');
			idOf.set(key, id);
			const durable = world.durable(key);
			if (durable.length > 0 && !durable.includes(id)) blame('what is on record is not handed on');
			return;
		}
		if (outcome.kind === 'stopped') return blame('stopped in calm weather');
		const { code } = outcome.error;
		if (code === 'generation_not_found' && world.misled.has(key)) return;
		if (code !== 'uncertain_charge') {
			return blame(`${outcome.error.code}: ${outcome.error.message}`);
		}
		if (onUncertainCharge === 'resubmit') blame('uncertain, although it may be sent again');
		if (!world.isUncertain(key)) blame('called uncertain, but everything is known');
		if (world.durable(key).length > 0) blame('called uncertain, although it is on record');
	});
}

/** Checks that there is one row per generation, and no other rows. */
function judgeRows(world: KeyedWorld): void {
	for (const key of new Set(world.keys)) {
		if (world.copied.has(key)) continue;
		const rows = world.table.rows.filter(
			(row) => row.key === String(key) && row.status !== 'failed',
		);
		const ids = rows.map((row) => row.generation_id).filter(Boolean);
		const blame = (what: string) => world.blame(`Key ${key}: ${what}`);
		// If a user frees the row of a request in flight, or another execution takes it over while the process is paused, it is
		// written again. Of parallel calls, each may write one. Also if the workflow ends after a write without a response,
		// nobody is left to delete the second of two.
		const isWrittenAgain = world.freed.has(key) || world.doubtful.has(key);
		const isParallel = world.schedule.second?.runIndex === 0 && isWrittenAgain;
		const hasEnded = world.timeouts + world.deaths > 0 && world.deeds > 0;
		const mayHaveTwo = isParallel || hasEnded;
		if (new Set(ids).size < ids.length && !mayHaveTwo) blame('a generation has two rows');
		if (world.isUndisturbed && ids.length < rows.length) {
			blame('a row without a generation is left over');
		}
	}
}
