import { seededRandom } from '../../../sandbox/basics/random';
import { testSeed } from '../seed';

/** Before each test file: the jitter of the nodes, and whatever else draws, is the same in each run. */
Math.random = seededRandom(testSeed);
