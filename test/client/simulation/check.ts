// npm run proof -- [runs] [seed] [--keyed | --unkeyed | --asleep] [--brief]
// Plays this number of random schedules of each kind: without keys, of executions that share idempotency keys and may be
// killed, and of steps that sleep in a simulated n8n (a fifth as many: they take longer). Prints the result: if a promise
// was broken, the smallest schedule that breaks it. --keyed, --unkeyed or --asleep plays only that kind; --brief prints one
// line of JSON as soon as the result is known, with the tally of the last part.
import fc, { type Arbitrary } from 'fast-check';

import { playAsleep } from '../../nodes/sleep/play';
import { sleepSchedule } from '../../nodes/sleep/schedule';
import { SleepTally } from '../../nodes/sleep/tally';
import { anySchedule } from './arbitrary';
import { playKeyed } from './keyed';
import { keyedSchedule } from './keyed-schedule';
import { play } from './play';

const [runs = 10_000, seed = Number(process.env.TEST_SEED) || Date.now()] = process.argv
	.slice(2)
	.map(Number)
	.filter(Number.isFinite);
const brief = process.argv.includes('--brief');

/** Counts what happened in many schedules, to check that they were not free of failures. */
class Tally {
	add({ counts }: { counts: Record<string, number> }): void {
		const sums = this as unknown as Record<string, number>;
		for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
	}
}

interface Verdict {
	/** Number of schedules played, up to the first that broke a promise. */
	played: number;
	/** The promise that was broken, on the first line, and the trace of the schedule. */
	broken: string | null;
	tally: object;
}

async function check<S, W>(
	schedules: Arbitrary<S>,
	numRuns: number,
	playOne: (schedule: S) => Promise<W>,
	tally: { add(world: W): void },
): Promise<Verdict> {
	const property = fc.asyncProperty(schedules, async (schedule) => {
		tally.add(await playOne(schedule));
	});
	const result = await fc.check(property, { numRuns, seed, endOnFailure: brief });
	const verdict = { played: result.numRuns, tally };
	if (!result.failed) return { ...verdict, broken: null };
	const { counterexample, errorInstance } = result;
	const story = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
	const happened = `${story}\nThis befell ${fc.stringify(counterexample)}`;
	return { ...verdict, broken: brief ? story : happened };
}

function report(name: string, { played, broken, tally }: Verdict): void {
	if (brief) return;
	console.log(
		broken === null
			? `${name}, seed ${seed}: ${played} schedules, every promise kept (${JSON.stringify(tally)})`
			: `${name}, seed ${seed}: broken after ${played} schedules.\n\n${broken}`,
	);
}

async function main(): Promise<void> {
	const parts: Record<string, [name: string, part: () => Promise<Verdict>]> = {
		'--unkeyed': [
			'Whatever happens',
			async () => await check(anySchedule, runs, play, new Tally()),
		],
		'--keyed': ['With keys', async () => await check(keyedSchedule, runs, playKeyed, new Tally())],
		'--asleep': [
			'Asleep',
			async () => await check(sleepSchedule, Math.ceil(runs / 5), playAsleep, new SleepTally()),
		],
	};
	const asked = Object.keys(parts).filter((option) => process.argv.includes(option));
	let played = 0;
	let violation: string | undefined;
	let tally: object = {};
	for (const option of asked.length > 0 ? asked : Object.keys(parts)) {
		const [name, part] = parts[option];
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
