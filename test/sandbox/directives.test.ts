import { defaultReason, readDirectives } from '../../sandbox/generations/directives';
import type { Directives } from '../../sandbox/generations/directives';

const GB = 1024 ** 3;

describe('a directive in a prompt', () => {
	it.each<[string, Omit<Directives, 'plain'>]>([
		['[fail]', { fail: { reason: defaultReason, asText: false } }],
		['[FAIL: No  paint ]', { fail: { reason: 'No  paint', asText: false } }],
		['[fail:]', { fail: { reason: defaultReason, asText: false } }],
		['[fail-text]', { fail: { reason: defaultReason, asText: true } }],
		['[fail-text: no paint]', { fail: { reason: 'no paint', asText: true } }],
		['[fail: a] [fail-text: b]', { fail: { reason: 'a', asText: false } }],
		['[refuse: safety]', { fail: { reason: defaultReason, asText: false, code: 'safety' } }],
		[
			'[refuse: NSFW-content.2]',
			{ fail: { reason: defaultReason, asText: false, code: 'NSFW-content.2' } },
		],
		['[refuse: safety a cat]', { fail: { reason: 'a cat', asText: false, code: 'safety' } }],
		['[fail] [refuse: x]', { fail: { reason: defaultReason, asText: false, code: 'x' } }],
		['[refuse: x] [fail]', { fail: { reason: defaultReason, asText: false, code: 'x' } }],
		['[end:  Timed Out ]', { end: 'Timed Out' }],
		['[no-url]', { withoutUrl: { reason: null } }],
		['[no-url: gone]', { withoutUrl: { reason: 'gone' } }],
		['[outputs: 12 ]', { outputs: 12 }],
		['[seconds: 1.5]', { seconds: 1.5 }],
		['[seconds:\n2]', { seconds: 2 }],
		['[size: 1.5 kb]', { bytes: 1536 }],
		['[reject: forbidden]', { reject: { code: 'forbidden', times: Infinity } }],
		['[reject:  forbidden  2 ]', { reject: { code: 'forbidden', times: 2 } }],
		['[revise: a red boat ]', { revised: 'a red boat' }],
		[`[revise: ${'long '.repeat(150)}end]`, { revised: `${'long '.repeat(150)}end` }],
		['[[seconds: 3]', { seconds: 3 }],
		['[seconds: 3] [seconds: 4]', { seconds: 3 }],
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
		...['[failed]', '[fail', '[ fail]', '[end]', '[end: a/b]', '[outputs: 100]', '[outputs]'],
		...['[seconds: -1]', '[size: 5]', '[size: 5 TB]', '[reject]', '[reject: a b]', '[refuse: a/b]'],
		...['[refuse]', '[revise]', '[constructor]', '[toString: a]', '[other: text]', '[]', '[:]'],
	])('that the sandbox does not know remains in the prompt: %s', (text) => {
		expect(readDirectives(`A ${text}`)).toEqual({ plain: `A ${text}` });
	});

	it.each(['[end:', '[end: a', '[reject: a', '[refuse: a', '[seconds: 1', '[size: 1', '[', '[a'])(
		'that is never closed takes no time: %s',
		(begin) => {
			const began = performance.now();
			// The sandbox has a single thread: while it reads a prompt, it serves nobody.
			readDirectives(begin + ' '.repeat(3_000));
			readDirectives(`${begin} `.repeat(1_000));
			expect(performance.now() - began).toBeLessThan(1000);
		},
	);

	it('pads a file to 100 GB at most', () => {
		expect(readDirectives('[size: 100 GB]').bytes).toBe(100 * GB);
		expect(readDirectives(`[size: ${'9'.repeat(400)} GB]`).bytes).toBe(100 * GB);
	});
});
