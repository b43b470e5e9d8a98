/** Something that the user can understand and mend: shown as it is, without a stack. */
export class Trouble extends Error {}

/** The user has stopped the command. */
export class Stopped extends Error {}

/** Throws `Stopped` once the signal has aborted. */
export function throwIfStopped(signal: AbortSignal): void {
	if (signal.aborted) throw new Stopped();
}

/** What the system says of a port, as something to act on; other errors come back as they are. */
export function portTrouble(error: unknown): unknown {
	if (!(error instanceof Error) || !('code' in error) || !('port' in error)) return error;
	const port = String(error.port);
	if (error.code === 'EADDRINUSE') {
		return new Trouble(
			`Port ${port} is taken by another program. Choose another one, or leave --port and ` +
				'--storage-port out: then free ports are used.',
		);
	}
	if (error.code === 'EACCES') {
		return new Trouble(`Port ${port} may not be used by this user. Choose one above 1023.`);
	}
	return error;
}
