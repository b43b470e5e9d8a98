/** An error that the user can understand and fix. It is shown without a stack trace. */
export class Trouble extends Error {}

/** The user has stopped the command. */
export class Stopped extends Error {}

/** Throws `Stopped` once the signal has aborted. */
export function throwIfStopped(signal: AbortSignal): void {
	if (signal.aborted) throw new Stopped();
}

/** Runs a function that writes to a folder. Throws `Trouble` that names the folder's option if that is not possible. */
export function orTrouble(folder: string, option: string, write: () => void): void {
	try {
		write();
	} catch (error) {
		throw new Trouble(
			`The folder ${folder} cannot be used (${(error as Error).message}). Choose another one with ${option}.`,
		);
	}
}

/**
 * Converts a system error about a port to one that tells the user what to do. Returns other errors unchanged.
 *
 * @param options the command's options for that port
 */
export function portTrouble(error: unknown, ...options: string[]): unknown {
	const { code, port } = Object(error) as { code?: unknown; port?: unknown };
	if (code === 'EADDRINUSE') {
		return new Trouble(
			`Port ${String(port)} is taken by another program. Choose another one, or leave ` +
				`${options.join(' and ')} out: then a free one is used.`,
		);
	}
	if (code === 'EACCES' && port !== undefined) {
		return new Trouble(`Port ${String(port)} may not be used by this user. Choose one above 1023.`);
	}
	return error;
}
