import fc from 'fast-check';

import { testSeed } from '../seed';

/** The number of cases of each property, from the ring's configuration. */
declare const propertyRuns: number | undefined;

/** Runs before each test file with properties: fast-check uses the same cases in every run. */
fc.configureGlobal({
	seed: testSeed,
	numRuns: typeof propertyRuns === 'undefined' ? 100 : propertyRuns,
});
