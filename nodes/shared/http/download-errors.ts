import { causesOf } from '../../../client/api/connection';
import { GenerationError } from '../../../client/api/errors';
import type { Generation } from '../../../client/api/generation';
import { firstWords } from '../../../client/api/media-type';
import { sentences } from '../../../client/text';

/** A reason why an output cannot be stored. */
interface Cause {
	/** Matches a Node.js error code or the name of an n8n error. */
	names: RegExp;
	title: string;
	advice?: string;
	/** True if a retry may succeed. */
	isTransient?: boolean;
}

const CAUSES: Cause[] = [
	{
		names: /^(ENOSPC|EDQUOT)$/,
		title: 'n8n has no storage space left for the output',
		advice: 'Free up space where n8n stores its binary data',
	},
	{
		names: /^(EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR)$/,
		title: 'n8n cannot write to its binary data storage',
		advice: 'Check that the folder exists and that n8n can write to it',
	},
	{
		names: /^(CERT_|DEPTH_|SELF_|UNABLE_|ERR_TLS_)/,
		title: 'The storage’s TLS certificate was rejected',
		advice: 'Check the clock of this machine, and any proxy that inspects TLS connections',
	},
	{
		names: /^Ssrf/,
		title: 'n8n blocks requests to the storage’s address',
		advice: 'Ask the administrator of n8n to allow the host',
	},
	{
		names: /^(ENOTFOUND|EAI_AGAIN)$/,
		title: 'The storage’s host name could not be resolved',
		advice: 'Check that this machine can resolve the host in the URL',
		isTransient: true,
	},
	{
		names: /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/,
		title: 'The storage cannot be reached',
		advice: 'Check that this machine can connect to the host in the URL',
		isTransient: true,
	},
	{
		names: /^(ETIMEDOUT|ECONNABORTED)$/,
		title: 'The storage did not respond in time',
		isTransient: true,
	},
	{ names: /^(ECONNRESET|EPIPE)$/, title: 'The download was interrupted', isTransient: true },
];

/** The error for a storage response that contains no output. It allows retries with backoff. */
export function badOutput(title: string, status: number | null): GenerationError {
	const code = 'download_failed';
	return new GenerationError({ title, description: '', code, status, retry: 'backoff' });
}

/** The error for a text response instead of an image or video. Its first words explain the cause. */
export function textInstead(text: string, status: number): GenerationError {
	const title = 'The storage returned text instead of the output';
	const words = firstWords(text);
	return badOutput(words === '' ? title : `${title}: ${words}`, status);
}

/** The error for a stalled download. */
export function stalled(): GenerationError {
	return badOutput('The download stalled', null);
}

/**
 * The error of a completed generation whose file could not be downloaded or stored.
 *
 * @param failure the rejection of the download attempt
 * @returns an error that explains the cause; the generation stays charged
 */
export function downloadError(failure: unknown, { item }: Generation): GenerationError {
	const { error, advice } =
		failure instanceof GenerationError ? { error: failure, advice: null } : classify(failure);
	return error.with({
		details: 'The generation is completed, and only its file is missing',
		description: sentences(
			advice,
			`Get the file with Wait for Completion, at no charge. URL: ${item.url ?? 'none'}`,
		),
		charge: 'paid',
		generation: item,
	});
}

function classify(failure: unknown): { error: GenerationError; advice: string | null } {
	const names = [...causesOf(failure)].flatMap(({ code, name }) => [String(code), String(name)]);
	const cause = CAUSES.find((one) => names.some((name) => one.names.test(name)));
	if (cause) {
		const error = badOutput(cause.title, null);
		const { advice = null, isTransient } = cause;
		return { error: isTransient ? error : error.with({ retry: 'never' }), advice };
	}
	const reason = failure instanceof Error && failure.message ? `Cause: ${failure.message}` : null;
	return { error: badOutput('The output could not be downloaded', null), advice: reason };
}
