// npm run proof -- [runs] [seed] [--keyed | --unkeyed | --asleep] [--brief]
// Plays this number of random schedules of each kind: without keys, of executions that share idempotency keys and may be
// killed, and of steps that sleep in a simulated n8n (a fifth as many: they take longer). A tenth as many are played
// without failures. Prints the result: if a promise was broken, the smallest schedule that breaks it. --keyed, --unkeyed
// or --asleep plays only that kind; --brief prints one line of JSON as soon as the result is known, with the tally of the last part.
import fc, { type Arbitrary } from 'fast-check';

import { playAsleep } from '../../nodes/sleep/play';
import { sleepSchedule } from '../../nodes/sleep/schedule';
import { SleepTally } from '../../nodes/sleep/tally';
import { anySchedule, calmSchedule } from './arbitrary';
import { playKeyed } from './keyed';
import { keyedSchedule } from './keyed-schedule';
import { KeyedTally } from './keyed-tally';
import { play, playCalm } from './play';
import { Tally } from './tally';

const [runs = 10_000, seed = Number(process.env.TEST_SEED) || Date.now()] = process.argv
	.slice(2)
	.map(Number)
	.filter(Number.isFinite);
const brief = process.argv.includes('--brief');

interface Verdict<T> {
	/** Number of schedules played, up to the first that broke a promise. */
	played: number;
	/** The promise that was broken, on the first line, and the trace of the schedule. */
	broken: string | null;
	tally: T;
}

async function check<S, W, T extends { add(world: W): void }>(
	schedules: Arbitrary<S>,
	numRuns: number,
	playOne: (schedule: S) => Promise<W>,
	tally: T,
): Promise<Verdict<T>> {
	const property = fc.asyncProperty(schedules, async (schedule) => {
		tally.add(await playOne(schedule));
	});
	const result = await fc.check(property, { numRuns, seed, endOnFailure: brief });
	const verdict = { played: result.numRuns, tally };
	if (!result.failed) return { ...verdict, broken: null };
	const { counterexample, errorInstance } = result;
	const story = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
	return {
		...verdict,
		broken: brief ? story : `${story}\nThis befell ${fc.stringify(counterexample)}`,
	};
}

function report(name: string, { played, broken, tally }: Verdict<object>): void {
	if (brief) return;
	console.log(
		broken === null
			? `${name}, seed ${seed}: ${played} schedules, every promise kept (${String(tally)})`
			: `${name}, seed ${seed}: broken after ${played} schedules.\n\n${broken}`,
	);
}

async function main(): Promise<void> {
	const parts: Record<string, Array<[name: string, () => Promise<Verdict<object>>]>> = {
		'--unkeyed': [
			['Whatever happens', async () => await check(anySchedule, runs, play, new Tally())],
			[
				'In calm weather',
				async () => await check(calmSchedule, Math.ceil(runs / 10), playCalm, new Tally()),
			],
		],
		'--keyed': [
			['With keys', async () => await check(keyedSchedule, runs, playKeyed, new KeyedTally())],
		],
		'--asleep': [
			[
				'Asleep',
				async () => await check(sleepSchedule, Math.ceil(runs / 5), playAsleep, new SleepTally()),
			],
		],
	};
	const asked = Object.keys(parts).filter((option) => process.argv.includes(option));
	const chosen = (asked.length > 0 ? asked : Object.keys(parts)).flatMap((option) => parts[option]);
	let played = 0;
	let violation: string | undefined;
	let tally: object = {};
	for (const [name, part] of chosen) {
		const verdict = await part();
		report(name, verdict);
		played += verdict.played;
		({ tally } = verdict);
		violation = verdict.broken?.split('\n')[0];
		if (violation !== undefined) break;
	}
	if (brief)
		console.log(JSON.stringify({ kept: violation === undefined, played, violation, tally }));
	process.exitCode = violation === undefined ? 0 : 1;
}

void main();
