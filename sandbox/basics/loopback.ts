/** Returns true if the host name of a URL always resolves to this machine. */
export function isLoopback(hostname: string): boolean {
	return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
