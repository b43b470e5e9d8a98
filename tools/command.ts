import { resolve } from 'node:path';
import { Option } from 'commander';
import type { Command } from 'commander';
import { factorFrom } from '../sandbox/options';
import { stopSignal } from './stop-signal';
import { Stopped, Trouble } from './trouble';

/** Returns the option for the speed of the sandbox compared to real time. */
export function timeScaleOption(): Option {
	return new Option('--time-scale <number>', 'how much faster than life generations are made')
		.argParser(factorFrom)
		.default(10);
}

/** Returns an option for a folder. A relative path is resolved against `root`. */
export function folderOption(flag: string, what: string, root: string, usual: string): Option {
	const folder = (text: string) => resolve(root, text);
	return new Option(`${flag} <folder>`, what).argParser(folder).default(folder(usual), usual);
}

/** Prints a line for the user. */
export function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

function complain(text: string): void {
	process.stderr.write(`\n${text}\n`);
}

/**
 * Runs a command of this repository: parses the command line and sets the exit code.
 *
 * @param program parses the command line and reports errors in it
 * @param patienceMs how long a stop can take before the process is killed
 * @param run throws `Trouble` for errors that the user can fix, and `Stopped` after a stop
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
