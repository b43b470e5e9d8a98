import { causesOf, connectionFailure } from '../../../client/api/connection';
import { GenerationError } from '../../../client/api/errors';
import type { Generation } from '../../../client/api/generation';
import { firstWords, inSeconds, sentences } from '../../../client/text';

/** A reason why a download failed, other than no connection: n8n cannot write the file, or the transfer broke off. */
interface Cause {
	/** Matches a Node.js error code. */
	codes: RegExp;
	title: string;
	advice?: string;
	/** By default `never`. */
	retry?: 'backoff';
}

const CAUSES: Cause[] = [
	{
		codes: /^(ENOSPC|EDQUOT)$/,
		title: 'n8n has no storage space left for the output',
		advice: 'Free up space where n8n stores its binary data',
	},
	{
		codes: /^(EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR)$/,
		title: 'n8n cannot write to its binary data storage',
		advice: 'Check that the folder exists and that n8n can write to it',
	},
	{
		codes: /^(ETIMEDOUT|ECONNABORTED)$/,
		title: 'The storage did not respond in time',
		retry: 'backoff',
	},
	{ codes: /^(ECONNRESET|EPIPE)$/, title: 'The download was interrupted', retry: 'backoff' },
];

function isCause({ codes }: Cause, failure: unknown): boolean {
	return [...causesOf(failure)].some(({ code }) => codes.test(String(code)));
}

/** Advice if the storage cannot be reached, by whether a retry may help. */
const CONNECTION_ADVICE = {
	backoff: 'Check that the server that runs n8n can connect to the host in the URL',
	never: 'Check the URL, and any proxy between n8n and the storage',
};

/** The error for a download without a usable file, with or without a response. It allows retries with backoff. */
export function badOutput(title: string, status: number | null): GenerationError {
	const code = 'download_failed';
	return new GenerationError({ title, description: '', code, status, retry: 'backoff' });
}

/** The error for a status other than 200 and 206. `retryAfterMs`: how long it asks to wait, in milliseconds. */
export function notTheFile(status: number, retryAfterMs: number | null): GenerationError {
	const error = badOutput(`The storage returned HTTP ${status} instead of the file`, status);
	if (retryAfterMs === null) return error;
	const description = `It asks to wait ${inSeconds(retryAfterMs)} (Retry-After)`;
	return error.with({ retryAfterMs, description });
}

/** The error for a text response instead of an image or video. Its first words explain the cause. */
export function textInstead(text: string, status: number | null): GenerationError {
	const title = 'The storage returned text instead of the image or video';
	const words = firstWords(text);
	return badOutput(words === '' ? title : `${title}: ${words}`, status);
}

/** What another try does not change: a storage that rejects n8n, and a file above the limit of n8n's database. */
const REFUSED =
	/AccessDenied|Forbidden|NoSuchBucket|InvalidAccessKeyId|SignatureDoesNotMatch|max size limit/;

/** The error for a file that was read to its end, which n8n could not store. A busy database or storage is worth a retry. */
export function notStored(failure: unknown): GenerationError {
	const isRefused = [...causesOf(failure)].some((error) =>
		REFUSED.test(`${String(error.code)} ${String(error.name)} ${String(error.message)}`),
	);
	const known = CAUSES.find((cause) => cause.retry === undefined && isCause(cause, failure));
	const said = failure instanceof Error && failure.message ? `n8n says: ${failure.message}` : '';
	return badOutput(known?.title ?? 'n8n could not store the output', null).with({
		retry: known || isRefused ? 'never' : (connectionFailure(failure)?.retry ?? 'backoff'),
		description: sentences(said, known?.advice ?? 'Check the storage of n8n’s binary data'),
	});
}

/** The error for a stalled download. */
export function stalled(): GenerationError {
	return badOutput('The download stalled', null);
}

/**
 * The error of a completed generation whose file could not be downloaded or stored. The generation stays charged.
 *
 * @param error of the last try
 */
export function downloadError(error: GenerationError, { item }: Generation): GenerationError {
	return error.with({
		details: 'The generation is completed, and only its file is missing',
		description: sentences(
			error.description,
			`Get the file with Wait for Completion, at no charge. URL: ${item.url ?? 'none'}`,
		),
		charge: 'paid',
		generation: item,
	});
}

/**
 * Converts the rejection of a download into an error. Its description explains the cause, or how to remove it.
 */
export function errorFromDownload(failure: unknown): GenerationError {
	if (failure instanceof GenerationError) return failure;
	const unconnected = connectionFailure(failure);
	if (unconnected) {
		const { reason, retry, texts } = unconnected;
		const description = texts?.description ?? CONNECTION_ADVICE[retry];
		const title = `The storage cannot be reached: ${reason}`;
		return badOutput(title, null).with({ retry, description });
	}
	const cause = CAUSES.find((one) => isCause(one, failure));
	if (cause) {
		const { title, advice: description = '', retry = 'never' } = cause;
		return badOutput(title, null).with({ retry, description });
	}
	const description =
		failure instanceof Error && failure.message ? `Cause: ${failure.message}` : '';
	return badOutput('The output could not be downloaded', null).with({ description });
}
