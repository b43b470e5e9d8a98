import { GenerationError, sentences } from './errors';

/**
 * Codes of errors that occur before a request is sent: name resolution, connection, route or certificate failed.
 * After any other error, the request may have reached the service.
 */
const NEVER_SENT = new Set([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
	'EHOSTDOWN',
	'ENETDOWN',
	'EADDRNOTAVAIL',
	'ERR_INVALID_URL',
	// The URL of the service or of a proxy has a protocol other than http or https.
	'ERR_BAD_REQUEST',
	'ERR_INVALID_PROTOCOL',
	'ERR_SOCKET_BAD_PORT',
	'ERR_UNESCAPED_CHARACTERS',
	// The API key has characters that no header may contain.
	'ERR_INVALID_CHAR',
	'ERR_HTTP_INVALID_HEADER_VALUE',
	'ERR_TLS_CERT_ALTNAME_INVALID',
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'CERT_REVOKED',
	'CERT_REJECTED',
	'CERT_UNTRUSTED',
	'CERT_CHAIN_TOO_LONG',
	'CERT_SIGNATURE_FAILURE',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The codes among them that a retry does not fix. */
const PERMANENT = /^(ERR_|CERT_|DEPTH_|SELF_|UNABLE_)/;

/**
 * The request port rejects with this error if a request was certainly not sent. It was canceled earlier, or its
 * credential could not be read. In the second case, `cause` is the error of the credential.
 */
export class NotSentError extends Error {
	constructor(cause?: unknown) {
		super('The request was not sent', { cause });
		this.name = 'NotSentError';
	}
}

/**
 * Converts the rejection of a request without a response into an error. The charge is known only if the connection
 * was never made.
 *
 * @param failure rejection of the request port; its chain of causes is searched for Node's error codes
 * @param charging true if the request could have charged credits
 */
export function errorFromConnection(failure: unknown, charging: boolean): GenerationError {
	// A status request may be about a paid generation, so its error must not say that nothing was charged.
	const uncharged = charging ? ', so nothing was charged' : '';
	if (failure instanceof NotSentError) return unreadableCredential(failure, uncharged);
	const { code, phase, host } = rootCause(failure);
	if (phase === 'connecting' || (phase === null && code !== null && NEVER_SENT.has(code))) {
		return new GenerationError({
			title: `The service cannot be reached: ${reasonOf(code)}${host === null ? '' : ` (${host})`}`,
			description: `No connection was made${uncharged}. Check the base address in the credential, and that the service is up.`,
			code: 'connection_failed',
			retry: code !== null && PERMANENT.test(code) ? 'never' : 'backoff',
		});
	}
	return new GenerationError({
		title: 'The connection broke before an answer came',
		description: 'Try again later.',
		code: 'connection_lost',
		charge: charging ? 'unknown' : 'none',
		retry: 'backoff',
	});
}

/** Builds the error for a credential whose Base URL has changed since the step started. */
export function credentialChanged(): GenerationError {
	return new GenerationError({
		title: 'The Base URL in the credential was changed while this node was running',
		description:
			'The request was not sent: the new API key must not go to the old address, and the new address does not know the generations of this run. Use Retry, or run the workflow again, to continue with the new address.',
		code: 'credential_changed',
		stopsSubmitting: true,
	});
}

/** n8n's messages for a missing credential: never chosen, deleted, or encrypted with another key. */
const NO_CREDENTIAL =
	/not have any credentials|with no ID|with ID .+ does not exist|not be decrypted/;

function unreadableCredential({ cause }: NotSentError, uncharged: string): GenerationError {
	if (cause instanceof GenerationError) return cause;
	const said = cause instanceof Error ? cause.message : null;
	const missing = said !== null && NO_CREDENTIAL.test(said);
	return new GenerationError({
		title: missing ? 'The node has no credential' : 'The credential could not be read',
		description: sentences(
			`Nothing was sent${uncharged}`,
			said && `n8n says: ${said}`,
			missing
				? 'Choose a Media Generation API credential in the node, or create one'
				: 'Check that n8n can reach the place where it keeps its credentials, and that this one still exists',
		),
		code: missing ? 'credential_missing' : 'credential_unreadable',
		retry: missing ? 'never' : 'backoff',
	});
}

/** How far the connection was. Systems also report EHOSTUNREACH for an established connection whose host is lost. */
type Phase = 'connecting' | 'connected';

function phaseOf(syscall: unknown): Phase | null {
	if (syscall === 'connect' || syscall === 'getaddrinfo') return 'connecting';
	return /^(read|write)/.test(String(syscall)) ? 'connected' : null;
}

/** Why no connection was made, by Node's error code. */
const REASONS: Array<[RegExp, string]> = [
	[/^ECONNREFUSED$/, 'connection refused'],
	[/^ENOTFOUND$/, 'there is no such name'],
	[/^EAI_AGAIN$/, 'its name could not be resolved'],
	[/^(ETIMEDOUT|EHOSTDOWN)$/, 'no answer from its address'],
	[/^(EHOSTUNREACH|ENETUNREACH)$/, 'no route to its address'],
	[/^(ENETDOWN|EADDRNOTAVAIL)$/, 'this machine has no network'],
	[
		/^ERR_(INVALID_URL|BAD_REQUEST|INVALID_PROTOCOL|SOCKET_BAD_PORT|UNESCAPED_CHARACTERS)$/,
		'the Base URL, or the address of a proxy, is not valid',
	],
	[
		/^ERR_(INVALID_CHAR|HTTP_INVALID_HEADER_VALUE)$/,
		'the API key has characters that cannot be sent',
	],
	[/^ERR_SSRF$/, 'n8n does not allow requests to its address'],
	[/^ERR_TLS_REFUSED$/, 'it refuses the encryption that n8n speaks'],
	[/^ERR_SSL_/, 'it does not speak https'],
	[/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
	[/^ERR_TLS_CERT_ALTNAME/, 'its certificate is for another name'],
	[/^(CERT_|DEPTH_|SELF_|UNABLE_)/, 'its certificate was not accepted'],
];

function reasonOf(code: string | null): string {
	const known = REASONS.find(([codes]) => codes.test(code ?? ''));
	return known?.[1] ?? 'the connection broke while it was made';
}

/**
 * Errors before a request is sent that only their name or message identifies. Each gets a code of its own.
 *
 * Node's own `ERR_SSL_WRONG_VERSION_NUMBER` is different: it occurs on an open connection. The other side may have
 * received the request, and answers in plain text.
 */
const IN_WORDS: Array<[code: string | null, words: RegExp, meant: string]> = [
	[null, /^Ssrf/, 'ERR_SSRF'],
	['EPROTO', /wrong version number/, 'ERR_SSL_WRONG_VERSION_NUMBER'],
	['EPROTO', /alert protocol version|unsupported protocol|unrecognized name/, 'ERR_TLS_REFUSED'],
	// A load balancer without a backend does this, and a proxy that cannot reach the service.
	[null, /before (secure TLS connection was established|receiving CONNECT)/, 'ECONNRESET'],
];

/** The fields of errors from Node and from libraries that wrap them. */
type ErrorLink = Partial<
	Record<
		'name' | 'code' | 'syscall' | 'message' | 'cause' | 'errors' | 'hostname' | 'address' | 'port',
		unknown
	>
>;

/** Yields an error, its cause, the cause of that, and so on. */
export function* causesOf(failure: unknown): Generator<ErrorLink> {
	let link: unknown = failure;
	// Error chains are short. The limit protects against cycles.
	for (let depth = 0; depth < 8 && link && typeof link === 'object'; depth++) {
		const error = link as ErrorLink;
		yield error;
		// Node tries several addresses of one name, and wraps the error of each.
		link = error.cause ?? (Array.isArray(error.errors) ? error.errors[0] : undefined);
	}
}

interface RootCause {
	/** Node's error code. */
	code: string | null;
	/** How far the connection was, if known. */
	phase: Phase | null;
	/** The target host with its port, if known. */
	host: string | null;
}

/** Collects these facts from the whole chain of causes. */
function rootCause(failure: unknown): RootCause {
	let code: string | null = null;
	let phase: Phase | null = null;
	let host: string | null = null;
	for (const error of causesOf(failure)) {
		if (typeof error.code === 'string') code = error.code;
		phase = phaseOf(error.syscall) ?? phase;
		host = hostOf(error) ?? host;
		const said = `${String(error.name)}: ${String(error.message)}`;
		const known = IN_WORDS.find(([of, words]) => (of ?? code) === code && words.test(said));
		if (known) [code, phase] = [known[2], 'connecting'];
	}
	return { code, phase, host };
}

function hostOf({ hostname, address, port }: ErrorLink): string | null {
	const host = hostname ?? address;
	if (typeof host !== 'string' || host === '') return null;
	const bracketed = host.includes(':') ? `[${host}]` : host;
	return typeof port === 'number' ? `${bracketed}:${port}` : bracketed;
}

/**
 * Returns the address to which paths such as `/v1/models` are appended. Requests and the credential's test both use
 * it.
 *
 * @param typed the Base URL of the credential; surrounding whitespace, trailing slashes and a trailing `/v1` are
 * ignored
 * @throws GenerationError with the code `invalid_base_url` for anything but a plain http or https address
 */
export function serviceAddress(typed: unknown): string {
	const text = String(typed ?? '').trim();
	if (text === '') throw invalidBaseUrl('is empty');
	if (!/^https?:\/\//i.test(text)) throw invalidBaseUrl('must start with https:// or http://');
	const url = parsed(text);
	// URL parsers silently drop line breaks and tabs.
	if (url === null || /\s/.test(text)) throw invalidBaseUrl('is not a valid web address');
	// n8n would send these instead of the API key.
	if (url.username || url.password)
		throw invalidBaseUrl('must not contain a user name or password');
	if (/[?#]/.test(text)) throw invalidBaseUrl('must not contain ? or #');
	const path = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
	return `${url.origin}${path.replace(/\/+$/, '')}`;
}

function parsed(text: string): URL | null {
	try {
		return new URL(text);
	} catch {
		return null;
	}
}

/** @param reason what is wrong with the Base URL; never the URL itself, which may contain a password */
export function invalidBaseUrl(reason: string): GenerationError {
	return new GenerationError({
		title: `The Base URL in the credential ${reason}`,
		description:
			'No request was sent. Open the Media Generation API credential and enter the address of the service, such as https://api.example.com.',
		code: 'invalid_base_url',
		stopsSubmitting: true,
	});
}
