import { stopSignal } from './stop-signal';
import { Stopped, Trouble } from './trouble';

export interface Command<Options extends { help: boolean }> {
	/** What `--help` shows. */
	usage: string;
	/** Reads the command line. Throws a sentence that says what is wrong with it. */
	readOptions: (args: string[]) => Options;
	/** How long a stop may take before the process is ended in any case. */
	patienceMs: number;
	/** Throws `Trouble` for what the user can mend, `Stopped` after a stop. */
	run: (options: Options, signal: AbortSignal) => Promise<void>;
}

export function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

function complain(text: string): void {
	process.stderr.write(`\n${text}\n`);
}

/** Runs a command of this repository from its options to its exit code. */
export async function runCommand<Options extends { help: boolean }>({
	usage,
	readOptions,
	patienceMs,
	run,
}: Command<Options>): Promise<void> {
	let options: Options;
	try {
		options = readOptions(process.argv.slice(2));
	} catch (error) {
		complain(`${error instanceof Error ? error.message : 'Bad options.'}\n\n${usage}`);
		process.exit(2);
	}
	if (options.help) return say(usage);
	try {
		await run(options, stopSignal(patienceMs));
	} catch (error) {
		if (error instanceof Stopped) return say('\nStopped. Nothing is left running.');
		complain(error instanceof Trouble ? error.message : String((error as Error)?.stack ?? error));
		process.exitCode = 1;
	}
}
