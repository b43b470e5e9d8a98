import { seededRandom } from '../../../sandbox/basics/random';
import { testSeed } from '../seed';

/** Runs before each test file: seeds random numbers, such as the nodes' jitter, so that all runs are the same. */
Math.random = seededRandom(testSeed);
