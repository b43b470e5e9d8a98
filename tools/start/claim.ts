import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orTrouble, Trouble } from '../trouble';

/** Files that `npm start` keeps in its data folder. `--forget` deletes them. */
export const keptFiles = [
	'.n8n',
	'sandbox-books.jsonl',
	'sandbox-port.json',
	'sandbox.log',
	'n8n.log',
	's3',
];

/** Its presence says that the files above belong to `npm start`. */
const marker = 'made-by-npm-start.txt';

/**
 * Makes a folder the data folder of `npm start`, and creates it. Throws `Trouble` if it contains data that may belong to
 * the user's own n8n: `--forget` would delete that.
 */
export function claimFolder(folder: string): void {
	if (existsSync(join(folder, marker))) return;
	const foreign = keptFiles.filter((name) => existsSync(join(folder, name)));
	if (foreign.length > 0) {
		throw new Trouble(
			`The folder ${folder} contains ${foreign.join(', ')}, which npm start has not created. It may be the data of ` +
				'your own n8n. Choose another folder with --data.',
		);
	}
	orTrouble(folder, '--data', () => {
		mkdirSync(folder, { recursive: true });
		writeFileSync(
			join(folder, marker),
			'npm start keeps its data here, and --forget deletes it.\n',
		);
	});
}
