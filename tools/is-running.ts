/** Returns true if there is a process with this id. */
export function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		// EPERM: the process belongs to another user.
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}
