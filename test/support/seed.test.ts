import fc from 'fast-check';

import { seededRandom } from '../../sandbox/basics/random';
import { testSeed } from './seed';

it('properties draw the same cases in each run', () => {
	expect(fc.readConfigureGlobal()).toMatchObject({ seed: testSeed });
});

it('what is drawn with Math.random is the same in each run', () => {
	expect(Math.random()).toBe(seededRandom(testSeed)());
});
