import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Command } from 'commander';
import { factorFrom } from '../sandbox/options';
import { stopSignal } from './stop-signal';
import { Stopped, Trouble } from './trouble';

/** How much faster than life the sandbox is. */
export function timeScaleOption(): Option {
	return new Option('--time-scale <number>', 'how much faster than life generations are made')
		.argParser(factorFrom)
		.default(10);
}

/** A folder; a relative one is one of `root`. */
export function folderOption(flag: string, what: string, root: string, usual: string): Option {
	const folder = (text: string) => resolve(root, text);
	return new Option(`${flag} <folder>`, what).argParser(folder).default(folder(usual), usual);
}

/** Shows a line to the user. */
export function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

function complain(text: string): void {
	process.stderr.write(`\n${text}\n`);
}

/**
 * Runs a command of this repository from its command line to its exit code.
 *
 * @param program reads the command line, and says what is wrong with it
 * @param patienceMs how long a stop may take before the process is ended in any case
 * @param run throws `Trouble` for what the user can mend, `Stopped` after a stop
 */
export async function runCommand<Options extends object>(
	program: Command,
	patienceMs: number,
	run: (options: Options, signal: AbortSignal) => Promise<void>,
): Promise<void> {
	const options = program.showHelpAfterError().parse().opts<Options>();
	try {
		await run(options, stopSignal(patienceMs));
	} catch (error) {
		if (error instanceof Stopped) return say('\nStopped. Nothing is left running.');
		complain(error instanceof Trouble ? error.message : String((error as Error)?.stack ?? error));
		process.exitCode = 1;
	}
}
