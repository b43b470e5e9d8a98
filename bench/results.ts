import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';

import { thisMachine, today, type Machine } from './machine';

/** When and where a part was measured. */
export interface Measured {
	date: string;
	node: string;
	machine: Machine;
	/** Processes that wanted a core when it began, the mean of a minute: what else the machine was doing. */
	load?: number;
}

/** What a part has found. */
export type Result = object & { measured: Measured };

/** All parts, by their names. */
export type Results = Record<string, Result>;

const FILE = join(__dirname, 'results.json');

/** What has been measured so far. */
export function readResults(): Results {
	return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Results) : {};
}

/** Circumstances as they are now. */
export function circumstances(): Measured {
	const [load] = loadavg();
	return {
		date: today(),
		node: process.version,
		machine: thisMachine(),
		load: Number(load.toFixed(1)),
	};
}

/** Writes one part down, and leaves the others as they are in the file now: another bench may have written meanwhile. */
export function keepResult(name: string, measured: Measured, result: object): void {
	const results: Results = { ...readResults(), [name]: { measured, ...result } };
	writeFileSync(FILE, `${JSON.stringify(results, null, '\t')}\n`);
}
