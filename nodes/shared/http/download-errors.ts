import { causesOf, connectionFailure } from '../../../client/api/connection';
import { GenerationError } from '../../../client/api/errors';
import type { Generation } from '../../../client/api/generation';
import { firstWords, sentences } from '../../../client/text';

/** Builds the error for a download that gave no usable file. It allows retries with backoff. */
export function badOutput(title: string, status: number | null): GenerationError {
	const code = 'download_failed';
	return new GenerationError({ title, description: '', code, status, retry: 'backoff' });
}

/** The error for a text response instead of an image or video. Its title quotes the first words of that text. */
export function textInstead(text: string, status: number | null): GenerationError {
	const title = 'The storage returned text instead of the image or video';
	const words = firstWords(text);
	return badOutput(words === '' ? title : `${title}: ${words}`, status);
}

/** Errors of n8n's own storage that no retry cures: a full disk, missing permissions, a file above a database's limit. */
const CANNOT_STORE =
	/ENOSPC|EDQUOT|EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR|AccessDenied|Forbidden|NoSuchBucket|InvalidAccessKeyId|SignatureDoesNotMatch|max size limit/;

/** Builds the error for a file that n8n could not store. It allows retries, unless `CANNOT_STORE` matches the failure. */
export function notStored(failure: unknown): GenerationError {
	const isFinal = [...causesOf(failure)].some(({ code, name, message }) =>
		CANNOT_STORE.test(`${String(code)} ${String(name)} ${String(message)}`),
	);
	return badOutput('n8n could not store the output', null).with({
		retry: isFinal ? 'never' : 'backoff',
		description: sentences(
			failure instanceof Error && failure.message && `n8n says: ${failure.message}`,
			'Check the storage of n8n’s binary data, its free space, and that n8n can write to it',
		),
	});
}

/** The error of a completed generation whose file could not be downloaded or stored. The generation stays charged. */
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

/** Converts the failure of a download into an error for the user. Its description states the cause or what to do. */
export function errorFromDownload(failure: unknown): GenerationError {
	if (failure instanceof GenerationError) return failure;
	const unconnected = connectionFailure(failure);
	if (unconnected) {
		const { reason, retry, texts } = unconnected;
		const description =
			texts?.description ??
			'Check the URL, any proxy, and that the server that runs n8n can connect to its host';
		return badOutput(`The storage cannot be reached: ${reason}`, null).with({ retry, description });
	}
	const error = notStored(failure);
	if (error.retry === 'never') return error;
	const description =
		failure instanceof Error && failure.message ? `Cause: ${failure.message}` : '';
	return badOutput('The output could not be downloaded', null).with({ description });
}
