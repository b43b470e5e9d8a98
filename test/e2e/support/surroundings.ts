import { join, resolve } from 'node:path';
import type { Installation, Release } from '../../../tools/n8n/installation';

/** The environment that is prepared once for all tests. */
export interface Surroundings {
	installation: Installation;
	/** The package as packed for publishing. */
	tarball: string;
}

/** The local programs that the tests start. */
export interface Programs {
	chromium: string;
	'redis-server': string;
	/** The folder that holds `initdb` and `postgres`. */
	postgresql: string;
}

const variable = 'MEDIA_E2E_SURROUNDINGS';
const programsVariable = 'MEDIA_E2E_PROGRAMS';

/** The folder of the package under test. */
export const repository = resolve(__dirname, '../../..');

/** The n8n under test. `compat.mjs` sets other releases than the current one. */
export const release = (process.env.MEDIA_E2E_RELEASE ?? 'current') as Release;
/** True if the nodes of that n8n can use data tables. */
export const hasTables = ['current', 'first-tables'].includes(release);

/** Returns the folder for test output to inspect. Git ignores it. */
export function outputFolder(name: string): string {
	const suite = release === 'current' ? 'e2e' : join('compat', release);
	return join(repository, 'output', suite, name);
}

/** Passes the environment to the tests, which run in their own processes. */
export function provide(surroundings: Surroundings): void {
	process.env[variable] = JSON.stringify(surroundings);
}

/** Returns the environment that `setup` has prepared. Throws outside of the tests. */
export function surroundings(): Surroundings {
	return read(variable) as Surroundings;
}

/** Returns the programs that `run.mjs` has found or installed. Throws outside of the tests. */
export function programs(): Programs {
	return read(programsVariable) as Programs;
}

function read(name: string): unknown {
	const text = process.env[name];
	if (text === undefined) throw new Error('Run the end-to-end tests with npm run test:e2e.');
	return JSON.parse(text);
}
