import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';

import { thisMachine, today, type Machine } from './machine';

/** When and where a part was measured. */
export interface Measured {
	date: string;
	node: string;
	machine: Machine;
	/** The load average of the last minute when the measurement started: other work on the machine. */
	load?: number;
}

/** The result of a part. */
export type Result = object & { measured: Measured };

/** The results of all parts, by name. */
export type Results = Record<string, Result>;

const FILE = join(__dirname, 'results.json');

/** Returns all stored results. */
export function readResults(): Results {
	return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Results) : {};
}

/** Returns the current circumstances. */
export function circumstances(): Measured {
	const [load] = loadavg();
	return {
		date: today(),
		node: process.version,
		machine: thisMachine(),
		load: Number(load.toFixed(1)),
	};
}

/** Stores the result of one part. Reads the file again first, because another benchmark may have written to it. */
export function keepResult(name: string, measured: Measured, result: object): void {
	const results: Results = { ...readResults(), [name]: { measured, ...result } };
	writeFileSync(FILE, `${JSON.stringify(results, null, '\t')}\n`);
}
