/** Whether a host name, as a URL has it, always leads to the machine itself. */
export function isLoopback(hostname: string): boolean {
	return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
