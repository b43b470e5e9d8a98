import { join, resolve } from 'node:path';
import type { Installation } from '../../../tools/n8n/installation';

/** What is made once for all tests. */
export interface Surroundings {
	installation: Installation;
	/** The package as it would be published. */
	tarball: string;
}

const variable = 'MEDIA_E2E_SURROUNDINGS';

/** The folder of the package under test. */
export const repository = resolve(__dirname, '../../..');

/** A folder for what a test leaves to look at; git does not know it. */
export function outputFolder(name: string): string {
	return join(repository, 'output', 'e2e', name);
}

/** Hands the surroundings to the tests, which run in processes of their own. */
export function provide(surroundings: Surroundings): void {
	process.env[variable] = JSON.stringify(surroundings);
}

/** What `setup` has made. Throws outside of the tests. */
export function surroundings(): Surroundings {
	const text = process.env[variable];
	if (text === undefined) throw new Error('Run the end-to-end tests with npm run test:e2e.');
	return JSON.parse(text) as Surroundings;
}
