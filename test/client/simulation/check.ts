// tsx test/client/simulation/check.ts [runs] [seed] [--brief]
// Plays so many random schedules, and a tenth of them in calm weather, and says what came of it: where a promise was
// broken, the smallest story of it. With --brief one line of JSON, as soon as anything is known.
import fc, { type Arbitrary } from 'fast-check';

import { anySchedule, calmSchedule } from './arbitrary';
import { play, playCalm } from './play';
import { tallied, type Tally } from './tally';
import type { Schedule } from './schedule';
import type { World } from './world';

const [runs = 10_000, seed = Date.now()] = process.argv
	.slice(2)
	.map(Number)
	.filter(Number.isFinite);
const brief = process.argv.includes('--brief');

interface Verdict {
	/** How many schedules were played, up to the first that broke a promise. */
	played: number;
	/** The promise that was broken, on its first line, and the story of it. */
	broken: string | null;
	tally: Tally;
}

async function check(
	schedules: Arbitrary<Schedule>,
	numRuns: number,
	playOne: (schedule: Schedule) => Promise<World>,
): Promise<Verdict> {
	const { tally, property } = tallied(schedules, playOne);
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

function report(name: string, { played, broken, tally }: Verdict): void {
	if (broken !== null) {
		console.log(`${name}, seed ${seed}: broken after ${played} schedules.\n\n${broken}`);
		return;
	}
	const { tries, stops, requests, charges, lost, refunds } = tally;
	console.log(
		`${name}, seed ${seed}: ${played} schedules, every promise kept (${tries} tries, ${stops} of them stopped; ` +
			`${requests} requests; ${charges} generations, ${lost} with a lost answer and ${refunds} refunded)`,
	);
}

async function main(): Promise<void> {
	const stormy = await check(anySchedule, runs, play);
	if (!brief) report('Whatever happens', stormy);
	const calm = await check(calmSchedule, Math.ceil(runs / 10), playCalm);
	if (!brief) report('In calm weather', calm);

	const { broken } = stormy.broken === null ? calm : stormy;
	const played = stormy.played + (stormy.broken === null ? calm.played : 0);
	const violation = broken?.split('\n')[0];
	if (brief) console.log(JSON.stringify({ kept: broken === null, played, violation }));
	process.exitCode = broken === null ? 0 : 1;
}

void main();
