import { join } from 'node:path';

import { buildNodes, isBuilt } from '../tools/build';
import { stopSignal } from '../tools/stop-signal';
import { writeDocs } from './docs';
import { parts } from './parts';
import { circumstances, keepResult } from './results';
import { documented } from './sections';

const root = join(__dirname, '..');

const usage = `npm run bench             what we claim about speed and memory, measured again, but for what takes long
npm run bench -- <part>   one part or several of ${namesOf(false)}
                          and, where they are asked for only, of ${namesOf(true)}
npm run bench -- docs     measures nothing

Each part is written to bench/results.json as soon as it has ended, and the tables in docs/ with it.`;

function namesOf(onlyAsked: boolean): string {
	const names = parts.filter((part) => (part.onlyAsked ?? false) === onlyAsked);
	return names.map(({ name }) => name).join(', ');
}

async function main(): Promise<void> {
	const asked = process.argv.slice(2);
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
