import { GenerationError, type GenerationErrorFields } from './errors';

const INTERRUPTED = 'the connection closed while it was being made';

/** A failure to make a connection. `texts` replace the usual ones of an error. */
type FailureRow = [
	codes: RegExp,
	retry: 'backoff' | 'never',
	reason: string,
	words?: RegExp | null,
	texts?: Partial<GenerationErrorFields>,
];

const ALLOW_HOST = {
	description: 'Ask the administrator of n8n to allow the host (N8N_SSRF_ALLOWED_HOSTNAMES).',
};
const CERTIFICATE = {
	description:
		'If the certificate is from a CA of your company, such as that of a proxy, ask the administrator of n8n to set NODE_EXTRA_CA_CERTS to the CA’s certificate, for workers too, and to restart n8n. If it has expired, renew it, or correct the clock of the server that runs n8n.',
};

/**
 * Failures before a request is sent. An unlisted failure of `connect` or `getaddrinfo` counts too. A listed code does not
 * count if a read or write failed: the request may have arrived. Rows with words are tried first.
 *
 * Node's own `ERR_SSL_WRONG_VERSION_NUMBER` is not here: it occurs on an open connection, whose other side may have
 * received the request.
 */
const CONNECTION_FAILURES: FailureRow[] = [
	[/^/, 'never', 'n8n does not allow requests to its address', /^Ssrf/, ALLOW_HOST],
	[
		/^EPROTO$/,
		'never',
		'it does not use https, or rejected the TLS version or the host name',
		/wrong version number|alert protocol version|unsupported protocol|unrecognized name/,
	],
	// A load balancer without a backend does this, and a proxy that cannot reach the service.
	[/^/, 'backoff', INTERRUPTED, /before (secure TLS connection was estab|receiving CONNECT)/],
	[/^ETIMEDOUT$/, 'backoff', 'its address does not respond', /connect ETIMEDOUT/],
	[/^ECONNREFUSED$/, 'backoff', 'connection refused'],
	// Name servers that are down may also answer this: after the service has answered once, it is transient.
	[/^ENOTFOUND$/, 'backoff', 'its host name does not exist', null, { fatalForStep: true }],
	[/^EAI_AGAIN$/, 'backoff', 'its host name could not be resolved'],
	[/^(EHOSTDOWN|EHOSTUNREACH|ENETUNREACH)$/, 'backoff', 'no route to its address'],
	[/^(ENETDOWN|EADDRNOTAVAIL)$/, 'backoff', 'the server that runs n8n has no network'],
	[
		/^ERR_(INVALID_URL|BAD_REQUEST|INVALID_PROTOCOL|SOCKET_BAD_PORT|UNESCAPED_CHARACTERS)$/,
		'never',
		'its URL, or the address of a proxy, is not valid',
	],
	[
		/^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/,
		'never',
		'its certificate was not accepted',
		null,
		CERTIFICATE,
	],
];

/**
 * Converts a rejection of the request port into an error. The charge is known only if the connection was never made.
 *
 * @param failure a `GenerationError` is returned unchanged: the request was not sent
 * @param charging true if the request could have charged credits
 */
export function errorFromConnection(failure: unknown, charging: boolean): GenerationError {
	if (failure instanceof GenerationError) return failure;
	const unconnected = connectionFailure(failure);
	if (unconnected) {
		const { code, reason, retry, texts } = unconnected;
		return new GenerationError({
			title: `The service cannot be reached: ${reason}`,
			details: `No connection was made${code && ` (${code})`}`,
			description: 'Check the Base URL in the credential, and that the service is up.',
			code: 'connection_failed',
			retry,
			...texts,
		});
	}
	return new GenerationError({
		title: 'The connection closed before a response arrived',
		description: 'Try again later.',
		code: 'connection_lost',
		charge: charging ? 'unknown' : 'none',
		retry: 'backoff',
	});
}

/**
 * Returns why a request made no connection, to the service or to a storage; `null` if it may have arrived. `reason`
 * completes "… cannot be reached: ", and ends with the host if that is known.
 */
export function connectionFailure(failure: unknown) {
	let code = '';
	let host: string | null = null;
	/** `null` if unknown. Systems also report EHOSTUNREACH for an established connection whose host is lost. */
	let wasConnected: boolean | null = null;
	let byWords: FailureRow | undefined;
	for (const error of causesOf(failure)) {
		if (typeof error.code === 'string') code = error.code;
		host = hostOf(error) ?? host;
		if (/^(read|write)/.test(String(error.syscall))) wasConnected = true;
		if (error.syscall === 'connect' || error.syscall === 'getaddrinfo') wasConnected = false;
		const text = `${String(error.name)}: ${String(error.message)}`;
		const found = CONNECTION_FAILURES.find(
			([codes, , , words]) => words?.test(text) && codes.test(code),
		);
		// The words are more precise than the system call: a failed TLS handshake is a failed write.
		if (found) [byWords, wasConnected] = [found, false];
	}
	const row =
		byWords ?? CONNECTION_FAILURES.find(([codes, , , words]) => !words && codes.test(code));
	if (wasConnected ?? !row) return null;
	const [, retry, reason, , texts] = row ?? ([null, 'backoff', INTERRUPTED] as const);
	return { code, reason: host === null ? reason : `${reason} (${host})`, retry, texts };
}

/** Yields an error and the chain of its causes, from Node or from libraries that wrap it. */
export function* causesOf(failure: unknown): Generator<Record<string, unknown>> {
	let link: unknown = failure;
	// Error chains are short. The limit protects against cycles.
	for (let depth = 0; depth < 8 && link && typeof link === 'object'; depth++) {
		const error = link as Record<string, unknown>;
		yield error;
		// Node tries all addresses of a host name. The error of the first stands for all.
		link = error.cause ?? (Array.isArray(error.errors) ? error.errors[0] : undefined);
	}
}

function hostOf({ hostname, address, port }: Record<string, unknown>): string | null {
	const host = hostname ?? address;
	if (typeof host !== 'string' || host === '') return null;
	const bracketed = host.includes(':') ? `[${host}]` : host;
	return typeof port === 'number' ? `${bracketed}:${port}` : bracketed;
}
