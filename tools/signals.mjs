const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const windows = process.platform === 'win32';

/** How long a child can take to end before it is killed. An `npm ci` that is unpacking would take minutes. */
const grace = 4_000;

/**
 * Makes this process end after its child: passes signals on, and ends this process by the same signal once the child
 * has ended. On Windows, the console already sends signals to both.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => boolean} call it when the child has ended: returns true if this process is ending too
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
