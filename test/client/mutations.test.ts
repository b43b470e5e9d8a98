import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { mutations } from './simulation/mutations';
import { recordMutations } from './simulation/mutations-of-record';

const root = resolve(__dirname, '../..');

/** What `test/client/simulation/mutants.ts` breaks: where it is not found any more, the proof of the proof is gone. */
it.each([...mutations, ...recordMutations])(
	'"$name" can be broken',
	({ also = [], ...mutation }) => {
		for (const { file, from } of [mutation, ...also]) {
			const code = readFileSync(join(root, file), 'utf8');
			expect([from, code.split(from).length - 1]).toEqual([from, 1]);
		}
	},
);
