import { InvalidClientMetadataError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { isLoopback } from '../basics/loopback';

const rule =
	'A redirect URI must be https, or http to this machine (localhost, 127.0.0.1, [::1]). It must have no fragment.';

function isAllowed(address: string): boolean {
	const { protocol, hostname } = new URL(address);
	if (address.includes('#')) return false;
	return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Throws InvalidClientMetadataError unless there is at least one URI and all are allowed (MCP authorization). */
export function assertRedirectUris(addresses: readonly string[]): void {
	if (addresses.length === 0) throw new InvalidClientMetadataError('A redirect URI is needed.');
	if (!addresses.every(isAllowed)) throw new InvalidClientMetadataError(rule);
}

/** Returns the URL that sends the browser back to the app, with the app's state and an outcome. */
export function returnTo(
	{ redirectUri, state }: { redirectUri: string; state?: string },
	outcome: Readonly<Record<string, string>>,
): string {
	const back = new URL(redirectUri);
	if (state !== undefined) back.searchParams.set('state', state);
	for (const [name, value] of Object.entries(outcome)) back.searchParams.set(name, value);
	return back.href;
}
