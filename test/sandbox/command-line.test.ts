import { KeptBooksError } from '../../sandbox/books/kept-books';
import { commandLine, explain, optionsFrom } from '../../sandbox/command-line';
import type { Values } from '../../sandbox/command-line';

/** The options of `npm run sandbox`. */

const read = (...args: string[]) =>
	optionsFrom(
		commandLine()
			.exitOverride()
			.configureOutput({ writeErr: () => undefined })
			.parse(args, { from: 'user' })
			.opts<Values>(),
	);

it('have defaults', () => {
	expect(read()).toMatchObject({
		...{ port: 8787, storagePort: 8788, timeScale: 1, urlLifetimeSeconds: 3600 },
		...{ accessTokenSeconds: 3600, seed: expect.any(Number), fetchInputs: undefined },
	});
});

it.each([
	['--seed', '-1', 'a number of at least 0'],
	['--seed', ' ', 'a number of at least 0'],
	['--seed', '', 'a number of at least 0'],
	['--seed', 'Infinity', 'a number of at least 0'],
	['--url-lifetime', 'x', 'a number of at least 0'],
	['--time-scale', '0', 'a number above 0'],
	['--time-scale', 'Infinity', 'a number above 0'],
	['--port', ' ', 'a whole number from 0 to 65535'],
	['--keep-in', '', 'the name of a file'],
	['--keep-in', ' ', 'the name of a file'],
])('reject %s %j', (option, value, what) => {
	expect(() => read(option, value)).toThrow(`It must be ${what}.`);
});

it('accept 0 as a seed, and a time scale below 1', () => {
	expect(read('--seed', '0', '--time-scale', '0.5')).toMatchObject({ seed: 0, timeScale: 0.5 });
});

it.each([
	[['--fetch-inputs'], undefined],
	[['--fetch-loopback'], true],
	[['--fetch-inputs', '--fetch-loopback'], true],
])('fetch inputs with %j', (args, loopback) => {
	expect(read(...args).fetchInputs).toEqual({ loopback });
});

it('are named by the error about their value', () => {
	expect(explain(new KeptBooksError('a cannot be used: EISDIR.'))).toBe(
		'a cannot be used: EISDIR. Choose another file with --keep-in.',
	);
	const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
	expect(explain(taken)).toContain('--port and --storage-port');
	expect(explain(new Error('Another error.'))).toBe('Another error.');
});
