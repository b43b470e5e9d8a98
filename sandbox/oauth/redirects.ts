import { InvalidClientMetadataError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { isLoopback } from '../basics/loopback';

const rule =
	'A redirect URI must be https, http to this machine (localhost, 127.0.0.1, [::1]), or a private scheme ' +
	'with a dot such as com.example.app:/callback. It must have no fragment.';

/** RFC 8252, 7.1 and 8.4: a private scheme is a reversed domain name. Requiring a dot excludes `file:`. */
function isPrivateScheme(protocol: string): boolean {
	return protocol.includes('.');
}

function isAllowed(address: string): boolean {
	const { protocol, hostname } = new URL(address);
	if (address.includes('#')) return false;
	if (protocol === 'http:') return isLoopback(hostname);
	return protocol === 'https:' || isPrivateScheme(protocol);
}

/** Throws InvalidClientMetadataError unless there is at least one URI and all are allowed (MCP authorization). */
export function assertRedirectUris(addresses: readonly string[]): void {
	if (addresses.length === 0) throw new InvalidClientMetadataError('A redirect URI is needed.');
	if (!addresses.every(isAllowed)) throw new InvalidClientMetadataError(rule);
}

/** Describes the target of a redirect URI for the user: the host of a web page, or an app's URI without its query. */
export function destinationOf(address: string): string {
	const url = new URL(address);
	if (!isPrivateScheme(url.protocol)) return url.host;
	url.search = '';
	return url.href;
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
