import { isLoopback } from '../basics/loopback';

/** The paths of the connector (spec 1.6). The second one is how some people and clients write a URL. */
export const connectorPaths = ['/mcp', '/mcp/'];

/**
 * Returns the URL of the connector at the host that a request was sent to. Clients compare it with the one that they
 * know (RFC 9728, 3.3), which can have any name of this machine, and the port of a proxy.
 */
export function connectorAt(host: string | undefined, path = connectorPaths[0]): URL {
	return new URL(path, `http://${host}`);
}

/** Returns true for the URLs of the connector that a client at that host can know: by each name of this machine. */
export function isConnector(url: URL, host: string | undefined): boolean {
	if (!isLoopback(url.hostname) || !connectorPaths.includes(url.pathname)) return false;
	const { port } = connectorAt(host);
	return url.href === `http://${url.hostname}${port && `:${port}`}${url.pathname}`;
}
