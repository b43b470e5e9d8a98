// node tools/release-check.mjs [--quick] [--tag <tag>], which is `npm run release:check`
// Runs every step before publishing, and prints the remaining manual steps. It changes and uploads nothing.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { Command } from 'commander';

import { scan } from './n8n-scan.mjs';
import { root, run, runNpm, seconds } from './run.mjs';
import {
	checkBranch,
	checkChangelog,
	checkRepository,
	checkTag,
	checkTagIsFree,
	checkTree,
	checkUnpublished,
	checkVersion,
	readPackage,
	tagOf,
} from './release-state.mjs';

/** The tarball remains here, so that the publishing workflow uploads exactly the one that was checked. */
const folder = join(root, 'output', 'release');

const { quick, tag } = new Command('npm run release:check --')
	.option('--quick', 'leaves out the tests, which take the longest')
	.option(
		'--tag <tag>',
		'one that exists and is about to be published: it has to be on this commit',
	)
	.parse()
	.opts();
const pkg = readPackage();
const tarball = join(folder, `${pkg.name}-${pkg.version}.tgz`);

/** Returns a step that runs a command. The command's output reports any problems. */
function command(what, ...args) {
	return async () => {
		const { code } = await runNpm(['run', '--silent', ...args]);
		return code === 0 ? [] : [what];
	};
}

async function pack() {
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const args = ['pack', '--silent', '--pack-destination', folder];
	const packed = await runNpm(args, { output: 'hide' });
	if (packed.code !== 0) return [`npm pack failed:\n${packed.stderr}`];
	const unpacked = await run('tar', ['-xzf', tarball, '-C', folder], { output: 'hide' });
	return unpacked.code === 0 ? [] : [`${tarball} cannot be unpacked:\n${unpacked.stderr}`];
}

async function scanPackage() {
	const found = Object.values(await scan(join(folder, 'package'), root)).filter(Boolean);
	if (found.length === 0) return [];
	return [
		`n8n would not verify this. Correct it, without disabling the rule:\n${found.join('\n')}`,
	];
}

/** Runs a dry run of `npm publish`. Provenance is off, because only the workflow can create it. */
async function rehearse() {
	const args = ['publish', tarball, '--dry-run', '--provenance=false', '--loglevel=warn'];
	const { code, stderr } = await runNpm(args, { output: 'hide' });
	if (code !== 0) return [`npm would not take the package:\n${stderr}`];
	if (/auto-corrected/.test(stderr))
		return [`npm corrects package.json. Run npm pkg fix:\n${stderr}`];
	return [];
}

const stateSteps = [
	{ name: 'Clean tree', check: checkTree },
	...(tag === undefined
		? [
				{ name: 'Branch', check: checkBranch },
				{ name: 'Tag is free', check: () => checkTagIsFree(pkg) },
			]
		: [{ name: 'Tag', check: () => checkTag(pkg, tag) }]),
	{ name: 'Version', check: () => checkVersion(pkg) },
	{ name: 'Changelog', check: () => checkChangelog(pkg) },
	{ name: 'Repository', check: () => checkRepository(pkg) },
	{ name: 'Not on npm', check: () => checkUnpublished(pkg) },
];

const packageSteps = [
	{
		name: 'Tests',
		skip: quick && '--quick',
		check: command('npm test fails: correct what is printed above.', 'test'),
	},
	{ name: 'Build', check: command('npm run build fails: see above.', 'build') },
	{
		name: 'Contents',
		needs: 'Build',
		check: command('Correct "files" in package.json, or the build.', 'pack:check'),
	},
	{ name: 'Pack', needs: 'Build', check: pack },
	{ name: "n8n's scan", needs: 'Pack', check: scanPackage },
	{ name: 'Rehearsal', needs: 'Pack', check: rehearse },
];

async function runStep({ name, needs, skip, check }, done) {
	if (skip) return { name, verdict: 'left out', detail: skip };
	if (needs && done.find((step) => step.name === needs).verdict !== 'passed') {
		return { name, verdict: 'not run', detail: `${needs} has to pass first` };
	}
	console.log(`\n--- ${name} ---`);
	const started = Date.now();
	const result = await check();
	const { problems, note } = Array.isArray(result) ? { problems: result } : result;
	for (const problem of problems) console.error(problem);
	const duration = seconds(Date.now() - started);
	if (problems.length > 0) return { name, verdict: 'FAILED', detail: duration };
	console.log(note ?? 'passed');
	return { name, verdict: 'passed', detail: note ? `${duration}, ${note}` : duration };
}

function printByHand() {
	const next = tagOf(pkg);
	console.log(`
What is left to do by hand (CONTRIBUTING.md, "Release"):
  1. git push origin main, and wait until CI is green there
  2. git tag ${next} && git push origin ${next}
  3. Approve the workflow "Publish", where the environment "npm" asks for it
  4. npx @n8n/scan-community-package ${pkg.name}@${pkg.version}
  5. In a real n8n: install ${pkg.name}@${pkg.version} as a user does, and run examples/main.json
  6. The first time: submit it for verification in n8n's Creator Portal`);
}

const done = [];
for (const step of [...stateSteps, ...packageSteps]) done.push(await runStep(step, done));

console.log(`\n--- ${pkg.name} ${pkg.version} ---`);
for (const { name, verdict, detail } of done) {
	console.log(`  ${name.padEnd(12)}${verdict.padEnd(10)}${detail}`);
}
const failed = done.filter(({ verdict }) => verdict === 'FAILED').map(({ name }) => name);
const leftOut = done.filter(({ verdict }) => verdict === 'left out').map(({ name }) => name);
if (failed.length > 0) {
	console.log(`\nNot ready: ${failed.join(', ')}. What to do is said above, at each of them.`);
	process.exitCode = 1;
} else if (leftOut.length > 0) {
	console.log(`\nReady as far as looked: left out ${leftOut.join(', ')}.`);
} else {
	console.log(`\nReady. The checked package: ${tarball}`);
	if (tag === undefined) printByHand();
}
