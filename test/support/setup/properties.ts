import fc from 'fast-check';

import { testSeed } from '../seed';

/** Runs before each test file with properties: fast-check uses the same cases in every run. */
fc.configureGlobal({ seed: testSeed });
