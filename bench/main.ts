import { join } from 'node:path';

import { buildNodes, isBuilt } from '../tools/build';
import { stopSignal } from '../tools/stop-signal';
import { runComparison } from './compare/main';
import { writeDocs } from './docs';
import { parts } from './parts';
import { circumstances, keepResult } from './results';
import { documented } from './sections';

const root = join(__dirname, '..');

const usage = `npm run bench             measures speed and memory again, except for the slow parts
npm run bench -- <part>   measures one or several parts: ${namesOf(false)}
                          slow parts, only on request: ${namesOf(true)}
npm run bench -- compare  compares this package with other approaches, in one real n8n; see --help
npm run bench -- docs     updates the tables in docs/ without measuring

The result of each part is written to bench/results.json as soon as the part ends. The tables in docs/ are updated at the end.`;

function namesOf(onlyAsked: boolean): string {
	const names = parts.filter((part) => (part.onlyAsked ?? false) === onlyAsked);
	return names.map(({ name }) => name).join(', ');
}

async function main(): Promise<void> {
	const asked = process.argv.slice(2);
	if (asked[0] === 'compare') return await runComparison(asked.slice(1));
	if (asked.includes('--help')) return console.log(usage);
	const names = [...parts.map(({ name }) => name), 'docs'];
	const unknown = asked.filter((name) => !names.includes(name));
	if (unknown.length > 0) throw new Error(`No such part: ${unknown.join(', ')}\n\n${usage}`);
	const chosen = parts.filter(({ name, onlyAsked }) =>
		asked.length === 0 ? !onlyAsked : asked.includes(name),
	);
	if (chosen.length > 0 && !(await isBuilt(root))) await buildNodes(root, stopSignal(0));
	for (const part of chosen) {
		const measured = circumstances();
		keepResult(part.name, measured, await part.run());
		console.log(`\nWritten to bench/results.json: ${part.name}`);
	}
	writeDocs(documented());
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
