const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const windows = process.platform === 'win32';

/** How long a child may take to end by itself. An `npm ci` that is unpacking would take minutes. */
const grace = 4_000;

/**
 * Lets a child end first when this process is to end: signals are passed on to it, and once it has
 * ended this process ends by the same signal. On Windows the console sends them to both already.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => boolean} to be called when the child has ended: true if this process ends now too
 */
export function passSignalsTo(child) {
	let received = null;
	let patience;
	const pass = (name) => {
		received ??= name;
		patience ??= setTimeout(() => child.kill('SIGKILL'), grace);
		if (!windows) child.kill(name);
	};
	for (const name of names) process.on(name, pass);
	return () => {
		clearTimeout(patience);
		for (const name of names) process.off(name, pass);
		if (received) process.kill(process.pid, received);
		return received !== null;
	};
}
