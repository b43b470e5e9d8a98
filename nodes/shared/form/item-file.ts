import type { IBinaryData } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import { digest } from '../../../client/orders/table';
import { InvalidInputError, requiredText, unreadInput } from './checks';
import { isAfterSleep, type Step } from '../step';

/** Finds the file that a field names. Throws InvalidInputError if the field is empty, or the item has no such file. */
export function itemFile(step: Step, itemIndex: number, given: unknown, label: string) {
	const name = requiredText(`${label}: Input Binary Field`, given);
	// With the workflow's setting `binaryMode: combined`, n8n keeps files in the field `_files` of the item's JSON.
	for (const place of [name, `_files.${name}`]) {
		try {
			return step.file(itemIndex, place);
		} catch {
			// Try the next place.
		}
	}
	throw new InvalidInputError(
		`${label}: the item has no binary field "${name}"`,
		'Check the field name, and that the previous node returns its file.',
	);
}

/**
 * Returns the final storage id of a file; `undefined` if only the item holds its data. A webhook's file is stored before the
 * execution has an id, in the folder `temp`. n8n moves it to the execution's folder when the execution sleeps or ends.
 */
export function lastingId(step: Step, { id }: IBinaryData): string | undefined {
	return id?.replace('/executions/temp/', `/executions/${step.execution}/`);
}

/**
 * Returns a file with its current id. When the execution of a webhook falls asleep, n8n renames the webhook's files (except
 * in queue mode and in a test run). Items and values of expressions from before the sleep still contain the old id.
 */
export async function asStoredNow(step: Step, file: IBinaryData): Promise<IBinaryData> {
	const id = lastingId(step, file);
	if (id === undefined || id === file.id || !isAfterSleep(step)) return file;
	const renamed = await toResult(async () => await step.n8n.helpers.getBinaryMetadata(id));
	return renamed.ok ? { ...file, id } : file;
}

/** The field in which `signedFile` keeps the digest of a file's data: the file's id is different in each run. */
export const CONTENT_DIGEST = 'contentDigest';

/**
 * Identifies a file in the digest of a request, by the same value in every attempt of the step and after a sleep: the id and
 * size in n8n's storage or, if the file's data came in the item itself, the digest of the data.
 */
export function fileIdentity(step: Step, file: IBinaryData): object {
	const known = file[CONTENT_DIGEST];
	if (known !== undefined) return { data: known };
	const id = lastingId(step, file);
	return id ? { id, bytes: file.bytes ?? null } : { data: digest(file.data) };
}

/** The MIME type without its parameters, for a data URI: `audio/ogg; codecs=opus` has a blank, which no URI may have. */
export function plainType({ mimeType }: IBinaryData): string {
	return mimeType?.split(';')[0].trim().toLowerCase() ?? '';
}

/** A file's size in bytes without reading it: its stated size, or the size of inline data. `undefined` if unknown. */
export function knownSize({ bytes, id, data }: IBinaryData): number | undefined {
	return bytes ?? (id ? undefined : Buffer.byteLength(data, 'base64'));
}

/** The error for a file that n8n cannot read: its execution was deleted, or n8n's storage is down or was changed. */
export function unreadable(label: string, error: unknown): InvalidInputError {
	return unreadInput(
		`${label} could not be read from n8n’s storage`,
		error,
		'Run the node that creates the file again. If that does not help, check the storage of n8n’s binary data.',
	);
}
