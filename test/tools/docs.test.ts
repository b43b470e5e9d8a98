import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { OWN_CAUSES } from '../../client/api/error-table';
import { codeSections } from '../../tools/docs';
import { pages, withSections } from '../../tools/tables';

const read = (path: string) => readFileSync(path, 'utf8');

it.each(pages())('%s has the options and errors of the code: else npm run format', (page) => {
	const text = read(page);
	expect(withSections(text, 'code', codeSections())).toBe(text);
});

it('the README lists the nodes and options, and docs/errors.md the errors of the service and our own', () => {
	const all = pages();
	const [readme, errors] = ['README.md', 'errors.md'].map((name) =>
		read(all.find((page) => basename(page) === name) ?? name),
	);
	expect(readme).toContain('<!-- code:options -->');
	expect(readme).toContain('| **Generation Credits** ');
	expect(readme).toContain('| Idempotency Key ');
	expect(readme).toMatch(/\| Timeout \(Seconds\) +\| 600 \/ 1800 /);
	expect(errors).toContain('<!-- code:errors -->');
	const own = Object.keys(OWN_CAUSES);
	expect(own.filter((code) => !errors.includes(`| \`${code}\``))).toEqual([]);
});
