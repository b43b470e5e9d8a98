import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

import { codeSections } from '../../tools/docs';
import { pages, withSections } from '../../tools/tables';

const read = (path: string) => readFileSync(path, 'utf8');

it.each(pages())('%s has the options and errors of the code: else npm run format', (page) => {
	const text = read(page);
	expect(withSections(text, 'code', codeSections())).toBe(text);
});

it('the README lists the nodes and main fields, and the pages list all options and errors', () => {
	const all = pages();
	const [readme, fields, errors] = ['README.md', 'fields-and-files.md', 'errors.md'].map((name) =>
		read(all.find((page) => basename(page) === name) ?? name),
	);
	expect(readme).toContain('| **Generation Credits** ');
	expect(readme).toMatch(/\| Options → Idempotency Key +\| Image, Video /);
	expect(readme).toMatch(
		/\| Run Options → Timeout \(Seconds\) +\| Image, Video +\| 600 \(image\), 1800 \(video\) /,
	);
	expect(fields).toMatch(/\| Include Other Input Fields +\| Image, Video +\| off; on when added /);
	expect(fields).toMatch(/\| Negative Prompt +\| /);
	expect(fields).toMatch(/\| Fallback Models +\| /);
	expect(errors).toContain('<!-- code:errors -->');
});
