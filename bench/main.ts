import { writeDocs } from './docs';
import { parts } from './parts';
import { circumstances, keepResult } from './results';
import { documented } from './sections';

const usage = `npm run bench             what we claim about speed and memory, measured again
npm run bench -- <part>   one part or several of ${parts.map(({ name }) => name).join(', ')}
npm run bench -- docs     measures nothing

Each part is written to bench/results.json as soon as it has ended, and the tables in docs/ with it.`;

async function main(): Promise<void> {
	const asked = process.argv.slice(2);
	if (asked.includes('--help')) return console.log(usage);
	const names = [...parts.map(({ name }) => name), 'docs'];
	const unknown = asked.filter((name) => !names.includes(name));
	if (unknown.length > 0) throw new Error(`No such part: ${unknown.join(', ')}\n\n${usage}`);
	const chosen = parts.filter(({ name, onlyAsked }) =>
		asked.length === 0 ? !onlyAsked : asked.includes(name),
	);
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
