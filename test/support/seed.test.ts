import fc from 'fast-check';

import { seededRandom } from '../../sandbox/basics/random';
import { testSeed } from './seed';

it('properties use the same cases in every run', () => {
	expect(fc.readConfigureGlobal()).toMatchObject({ seed: testSeed });
});

it('Math.random returns the same numbers in every run', () => {
	expect(Math.random()).toBe(seededRandom(testSeed)());
});
