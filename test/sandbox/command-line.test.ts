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
		...{ port: 8787, storagePort: 8788, timeScale: 1 },
		...{ seed: expect.any(Number), fetchInputs: undefined },
	});
	expect(read('--fetch-inputs').fetchInputs).toEqual({});
});

it.each([
	['--seed', '', 'a number of at least 0'],
	['--time-scale', '0', 'a number above 0'],
	['--port', ' ', 'a whole number from 0 to 65535'],
])('reject %s %j', (option, value, what) => {
	expect(() => read(option, value)).toThrow(`It must be ${what}.`);
});

it('are named by the error about their value', () => {
	const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
	expect(explain(taken)).toContain('--port and --storage-port');
});
