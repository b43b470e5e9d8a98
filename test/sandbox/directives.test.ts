import { defaultReason, readDirectives } from '../../sandbox/generations/directives';
import type { Directives } from '../../sandbox/generations/directives';

const failed = (reason = defaultReason, asText = false) => ({ fail: { reason, asText } });
const refused = (code: string, reason = defaultReason) => ({
	fail: { reason, asText: false, code },
});

describe('a directive in a prompt', () => {
	it.each<[string, Omit<Directives, 'plain'>]>([
		['[fail]', failed()],
		['[FAIL: No  paint ]', failed('No  paint')],
		['[fail-text: no paint]', failed('no paint', true)],
		['[fail: a] [fail-text: b]', failed('a')],
		['[refuse: safety]', refused('safety')],
		['[refuse: NSFW-content.2]', refused('NSFW-content.2')],
		['[refuse: safety a cat]', refused('safety', 'a cat')],
		['[fail] [refuse: x]', refused('x')],
		['[end:  Timed Out ]', { end: 'Timed Out' }],
		['[no-url]', { withoutUrl: { reason: null } }],
		['[no-url: gone]', { withoutUrl: { reason: 'gone' } }],
		['[outputs: 12 ]', { outputs: 12 }],
		['[seconds:\n1.5]', { seconds: 1.5 }],
		['[size: 1.5 kb]', { bytes: 1536 }],
		['[size: 900 GB]', { bytes: 4 * 1024 ** 3 - 1 }],
		['[reject: forbidden]', { reject: { code: 'forbidden', times: Infinity } }],
		['[reject:  forbidden  2 ]', { reject: { code: 'forbidden', times: 2 } }],
		['[[seconds: 3] [seconds: 4]', { seconds: 3 }],
		['[seconds: soon] [seconds: 4]', { seconds: 4 }],
	])('is read: %s', (written, read) => {
		const { plain, ...found } = readDirectives(`A boat ${written} at sea`);
		expect(found).toEqual(read);
		expect(plain).toMatch(/^A boat .*at sea$/);
	});

	it('is not part of the picture, even if it is repeated', () => {
		const prompt = 'A [seconds: 3] boat\n[fail: no paint] [SECONDS: 4] at sea [end: x]';
		expect(readDirectives(prompt).plain).toBe('A boat at sea');
	});

	it.each([
		...['[failed]', '[fail', '[ fail]', '[end]', '[end: a/b]', '[outputs: 100]', '[seconds: -1]'],
		...['[size: 5]', '[reject: a b]', '[refuse: a/b]', '[constructor]', '[]', '[:]'],
	])('that the sandbox does not know remains in the prompt: %s', (text) => {
		expect(readDirectives(`A ${text}`)).toEqual({ plain: `A ${text}` });
	});
});
