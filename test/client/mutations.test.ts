import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { mutations } from './simulation/mutations';
import { recordMutations } from './simulation/mutations-of-record';
import { waveMutations } from './simulation/mutations-of-waves';

const root = join(__dirname, '../..');
const all = [...mutations, ...recordMutations, ...waveMutations];
const edits = all.flatMap(({ name, also = [], ...edit }) =>
	[edit, ...also].map(({ file, from }) => ({ name, file, from })),
);

it.each(edits)('a mutation finds its code exactly once in $file: $name', ({ file, from }) => {
	expect(readFileSync(join(root, file), 'utf8').split(from)).toHaveLength(2);
});
