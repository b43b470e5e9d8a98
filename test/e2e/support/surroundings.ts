import { join, resolve } from 'node:path';
import type { Installation, Release } from '../../../tools/n8n/installation';

/** What is made once for all tests. */
export interface Surroundings {
	installation: Installation;
	/** The package as it would be published. */
	tarball: string;
}

/** Programs of this machine that the tests start. */
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

/** The n8n that is tested with: another than the current one where `compat.mjs` runs the tests. */
export const release = (process.env.MEDIA_E2E_RELEASE ?? 'current') as Release;
/** Whether the nodes of that n8n can use data tables. */
export const hasTables = ['current', 'first-tables'].includes(release);

/** A folder for what a test leaves to look at; git does not know it. */
export function outputFolder(name: string): string {
	const suite = release === 'current' ? 'e2e' : join('compat', release);
	return join(repository, 'output', suite, name);
}

/** Hands the surroundings to the tests, which run in processes of their own. */
export function provide(surroundings: Surroundings): void {
	process.env[variable] = JSON.stringify(surroundings);
}

/** What `setup` has made. Throws outside of the tests. */
export function surroundings(): Surroundings {
	return read(variable) as Surroundings;
}

/** What `run.mjs` has found or installed. Throws outside of the tests. */
export function programs(): Programs {
	return read(programsVariable) as Programs;
}

function read(name: string): unknown {
	const text = process.env[name];
	if (text === undefined) throw new Error('Run the end-to-end tests with npm run test:e2e.');
	return JSON.parse(text);
}
