import { join, resolve } from 'node:path';
import type { Installation, Release } from '../../../tools/n8n/installation';
import type { Programs } from './programs';

/** The environment that is prepared once for all tests. */
interface Surroundings {
	installation: Installation;
	/** The package as packed for publishing. */
	tarball: string;
	/** The local programs that the tests start. The tests of older releases need none. */
	programs?: Programs;
	/** The n8n that test files share. In older releases, each file starts its own. */
	shared?: SharedN8n;
}

/** An n8n with the packed package, whose owner is set up. */
export interface SharedN8n {
	url: string;
	/** The file with its output. */
	log: string;
	/** A folder like its own when it was new. An n8n that starts with a copy of it creates no database and no owner. */
	template: string;
}

const variable = 'MEDIA_E2E_SURROUNDINGS';

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
	const text = process.env[variable];
	if (text === undefined) throw new Error('Run the end-to-end tests with npm run test:e2e.');
	return JSON.parse(text) as Surroundings;
}

/** Returns the programs that the tests start. Throws in the tests of older releases. */
export function programs(): Programs {
	const { programs: found } = surroundings();
	if (!found) throw new Error('The tests of older releases start no programs.');
	return found;
}
