import { GenerationError, type GenerationErrorFields } from './errors';

const INTERRUPTED = 'the connection closed while it was being made';

/** A kind of failed connection. `codes` matches the error's code, `words` its text. `texts`: fields of our error. */
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
 * Failures that happen before a request is sent, so nothing was charged. `connectionFailure` tries rows with `words` first.
 * It ignores the other rows if the system call `read` or `write` failed, because the request may have arrived.
 *
 * `ERR_SSL_WRONG_VERSION_NUMBER` is not listed: it occurs on an open connection, so the request may have arrived.
 */
const CONNECTION_FAILURES: FailureRow[] = [
	[/^/, 'never', 'n8n does not allow requests to its address', /^Ssrf/, ALLOW_HOST],
	[
		/^EPROTO$/,
		'never',
		'it does not use https, or rejected the TLS version or the host name',
		/wrong version number|alert protocol version|unsupported protocol|unrecognized name/,
	],
	// A load balancer without a backend closes connections this early, and so does a proxy that cannot reach the service.
	[/^/, 'backoff', INTERRUPTED, /before (secure TLS connection was estab|receiving CONNECT)/],
	[/^ETIMEDOUT$/, 'backoff', 'its address does not respond', /connect ETIMEDOUT/],
	[/^ECONNREFUSED$/, 'backoff', 'connection refused'],
	// A broken DNS server may also cause ENOTFOUND. So `ServiceClient` clears `fatalForStep` if the service ever answered.
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
 * Converts a rejection by `SendRequest` into an error. The charge is `unknown` if a creating request may have arrived.
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
 * Returns why no connection was made to the service or a storage; `null` if the request may have arrived. `reason`
 * completes "The service cannot be reached: …", and ends with the host if the host is known.
 */
export function connectionFailure(failure: unknown) {
	let code = '';
	let host: string | null = null;
	/** Set from the failed system call, because a code can be ambiguous: EHOSTUNREACH also occurs on an open connection. */
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
		// Words override the system call: Node reports a failed TLS handshake as a failed `write`, but no request was sent.
		if (found) [byWords, wasConnected] = [found, false];
	}
	const row =
		byWords ?? CONNECTION_FAILURES.find(([codes, , , words]) => !words && codes.test(code));
	// If no system call is known, only the errors in the table certainly occur before the request is sent.
	if (wasConnected ?? !row) return null;
	const [, retry, reason, , texts] = row ?? ([null, 'backoff', INTERRUPTED] as const);
	return { code, reason: host === null ? reason : `${reason} (${host})`, retry, texts };
}

/** Yields an error and the chain of its causes, because HTTP libraries wrap the errors of Node. */
export function* causesOf(failure: unknown): Generator<Record<string, unknown>> {
	let link: unknown = failure;
	// Error chains are short. The limit protects against cycles.
	for (let depth = 0; depth < 8 && link && typeof link === 'object'; depth++) {
		const error = link as Record<string, unknown>;
		yield error;
		// Node tries all addresses of a host name, and lists an error for each. The first error stands for all.
		link = error.cause ?? (Array.isArray(error.errors) ? error.errors[0] : undefined);
	}
}

function hostOf({ hostname, address, port }: Record<string, unknown>): string | null {
	const host = hostname ?? address;
	if (typeof host !== 'string' || host === '') return null;
	const bracketed = host.includes(':') ? `[${host}]` : host;
	return typeof port === 'number' ? `${bracketed}:${port}` : bracketed;
}
