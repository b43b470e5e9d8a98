// tsx test/client/simulation/check.ts [runs] [seed] [--keyed | --unkeyed] [--brief]
// Plays so many random schedules, a tenth of them in calm weather, and as many of executions that share idempotency keys
// and may be killed. Says what came of it: where a promise was broken, the smallest story of it. With --keyed or
// --unkeyed only these or those; with --brief one line of JSON, as soon as anything is known, with the tally of the last part.
import fc, { type Arbitrary } from 'fast-check';

import { anySchedule, calmSchedule } from './arbitrary';
import { playKeyed } from './keyed';
import { keyedSchedule } from './keyed-schedule';
import { KeyedTally } from './keyed-tally';
import { play, playCalm } from './play';
import { Tally } from './tally';

const [runs = 10_000, seed = Date.now()] = process.argv
	.slice(2)
	.map(Number)
	.filter(Number.isFinite);
const brief = process.argv.includes('--brief');

interface Verdict<T> {
	/** How many schedules were played, up to the first that broke a promise. */
	played: number;
	/** The promise that was broken, on its first line, and the story of it. */
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
	const parts = [
		async () => await check(anySchedule, runs, play, new Tally()),
		async () => await check(calmSchedule, Math.ceil(runs / 10), playCalm, new Tally()),
		async () => await check(keyedSchedule, runs, playKeyed, new KeyedTally()),
	];
	const names = ['Whatever happens', 'In calm weather', 'With keys'];
	const chosen = [0, 1, 2].filter(
		(part) => !process.argv.includes(part === 2 ? '--unkeyed' : '--keyed'),
	);
	let played = 0;
	let violation: string | undefined;
	let tally: object = {};
	for (const part of chosen) {
		const verdict = await parts[part]();
		report(names[part], verdict);
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
