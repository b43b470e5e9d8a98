import { join } from 'node:path';

import { buildNodes, isBuilt } from '../tools/build';
import { stopSignal } from '../tools/stop-signal';
import { tableOf, writeSections } from '../tools/tables';
import { batches } from './batches';
import { compare } from './compare';
import { download } from './download';
import { chaos, crash, kills, price, sleep } from './end-to-end';
import { live } from './live';
import { circumstances, sectionsOf, type Tables } from './report';

/**
 * Measures and returns the tables for the documentation.
 *
 * @param quick true to measure little, to see that the bench works
 */
type Bench = (quick: boolean) => Promise<Tables>;

/** All benches, by their names. */
const benches: Record<string, Bench> = {
	...{ batch: batches, live, download, sleep },
	// In a real n8n. These take minutes to hours.
	...{ compare, price, crash, kills, chaos },
};

const usage = `npm run bench -- <name> …          measures again: ${Object.keys(benches).join(', ')}
npm run bench -- <name> … --quick  measures little and keeps nothing, to see that it works

Each bench writes its tables into the documentation.`;

async function main(): Promise<void> {
	const names = process.argv.slice(2).filter((word) => word !== '--quick');
	const quick = process.argv.includes('--quick');
	const unknown = names.filter((name) => !(name in benches));
	if (names.length === 0 || unknown.length > 0) throw new Error(usage);
	const root = join(__dirname, '..');
	for (const name of names) {
		// When the process ends, n8n ends too, even during a run.
		if (!(await isBuilt(root))) await buildNodes(root, stopSignal(0));
		const measured = circumstances();
		const tables = await benches[name](quick);
		for (const rows of Object.values(tables)) console.log(`\n${tableOf(rows)}`);
		if (!quick) writeSections('bench', sectionsOf(name, measured, tables));
	}
}

main().catch((error: unknown) => {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
});
