import fc from 'fast-check';

import { testSeed } from '../seed';

/** Before each test file with properties: fast-check draws the same cases in each run. */
fc.configureGlobal({ seed: testSeed });
