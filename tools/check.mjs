// node tools/check.mjs, which is `npm test`
// Runs all checks until one fails, and prints a summary with durations.
import { mkdirSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';

import { ensureDependenciesOrExit } from './dependencies.mjs';
import { readTotals } from './jest-totals.mjs';
import { root, run, seconds } from './run.mjs';

const resultsFile = join(root, 'output', 'jest.json');
const jest = ['--json', `--outputFile=${resultsFile}`];

const lint = { name: 'Lint', commands: [[process.execPath, join('tools', 'lint.mjs')]] };
const format = { name: 'Format', commands: [['oxfmt', '--check', '.']] };
const types = {
	name: 'Types',
	commands: [
		['tsgo', '-p', 'tsconfig.json', '--noEmit'],
		['tsgo', '-p', 'tsconfig.tools.json'],
	],
};
const proof = join('test', 'client', 'simulation', 'run.mjs');
const payments = {
	// Always the same ten thousand fault schedules of each kind.
	name: 'Payment proof',
	commands: [[process.execPath, proof, '10000', '20260101']],
};
const tests = { name: 'Tests', commands: [['jest', ...jest]], output: 'show' };

/** Lanes run in parallel. The steps of a lane run one after another. */
const lanes = [[tests], [payments], [lint, format, types]];
const steps = [lint, format, types, tests, payments];

async function runStep({ name, commands, output = 'hide' }, signal) {
	const started = Date.now();
	let said = '';
	for (const [command, ...args] of commands) {
		const { code, stdout, stderr } = await run(command, args, { output, signal });
		said += stdout + stderr;
		if (code !== 0) return { name, code, said, duration: Date.now() - started };
	}
	return { name, code: 0, said, duration: Date.now() - started };
}

/** Runs the steps. The first failure ends the others. */
async function runSteps() {
	const done = [];
	const failed = new AbortController();
	const { signal } = failed;
	const runLane = async (lane) => {
		for (const step of lane) {
			const result = await runStep(step, signal);
			if (signal.aborted) return;
			const outcome = result.code === 0 ? 'passed' : 'FAILED';
			console.log(`\n--- ${step.name}: ${outcome} ---\n${result.said}`);
			done.push(result);
			if (result.code !== 0) failed.abort();
		}
	};
	await Promise.all(lanes.map(runLane));
	return done;
}

function projectsOf(files) {
	const count = (engine) =>
		files
			.filter(({ name }) => name.includes(`${sep}engine${sep}`) === engine)
			.reduce((sum, { assertionResults }) => sum + assertionResults.length, 0);
	return `${count(false)} unit, ${count(true)} engine`;
}

function printSummary(installed, done, totals) {
	const line = (name, duration, text) =>
		console.log(`  ${name.padEnd(14)}${seconds(duration).padStart(9)}  ${text}`);
	console.log('\n--- Summary ---');
	if (installed > 0) line('Install', installed, 'done');
	for (const { name, code, duration } of done) {
		const hasRun = name === 'Tests' && totals.files.length > 0;
		const details = hasRun ? ` (${projectsOf(totals.files)})` : '';
		line(name, duration, (code === 0 ? 'passed' : 'FAILED') + details);
	}
	const open = steps.filter((step) => done.every(({ name }) => name !== step.name));
	for (const { name } of open) console.log(`  ${name.padEnd(25)}did not finish`);
}

const installed = await ensureDependenciesOrExit();
mkdirSync(join(root, 'output'), { recursive: true });
rmSync(resultsFile, { force: true });

const done = await runSteps();
const last = done.at(-1);
const totals = readTotals(resultsFile);
printSummary(installed, done, totals);
if (last.code !== 0) {
	const untested = totals.files.length > 0 ? '' : ' No tests ran.';
	console.log(`\n${last.name} failed: see the output above.${untested}`);
}
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = last.code === 0 ? 0 : 1;
