// tsx test/client/simulation/check.ts [runs] [seed] [--whole]
// Plays so many random schedules, and prints what came of it as JSON; with --whole the smallest story, too.
import fc from 'fast-check';

import { anySchedule, calmSchedule } from './arbitrary';
import { play, playCalm } from './play';

const [runs = 10_000, seed = Date.now()] = process.argv
	.slice(2)
	.map(Number)
	.filter(Number.isFinite);
const whole = process.argv.includes('--whole');

async function main(): Promise<void> {
	const properties = [
		fc.asyncProperty(anySchedule, async (schedule) => void (await play(schedule))),
		fc.asyncProperty(calmSchedule, async (schedule) => void (await playCalm(schedule))),
	];
	let played = 0;
	for (const [index, property] of properties.entries()) {
		const numRuns = index === 0 ? runs : Math.ceil(runs / 10);
		const result = await fc.check(property, { numRuns, seed, endOnFailure: !whole });
		played += result.numRuns;
		if (!result.failed) continue;
		const { counterexample, errorInstance } = result;
		const story = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
		if (whole) console.log(`${fc.stringify(counterexample)}\n\n${story}`);
		console.log(JSON.stringify({ kept: false, played, violation: story.split('\n')[0] }));
		process.exitCode = 1;
		return;
	}
	console.log(JSON.stringify({ kept: true, played }));
}

void main();
