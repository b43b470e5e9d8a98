import type { IBinaryData } from 'n8n-workflow';

import { FreshValue } from '../../../client/api/fresh-value';
import { toResult } from '../../../client/async';
import { digest } from '../../../client/orders/table';
import { InvalidInputError, unreadInput } from './checks';
import { asStoredNow, CONTENT_DIGEST, lastingId, unreadable } from './item-file';
import { isAfterSleep, type Step } from '../step';

/**
 * Returns a URL by which the service can fetch a file of an item, valid for an hour. An item may wait longer, so the URL is
 * made only when the request is sent. If only the item holds the data, stores the file first.
 * `instead`: advice for the user if there can be no URL. Throws InvalidInputError if the service could not fetch the file.
 */
export async function signedFile(
	step: Step,
	binary: IBinaryData,
	label: string,
	instead: string,
): Promise<FreshValue> {
	const { helpers } = step.n8n;
	const file = isAfterSleep(step)
		? await asStoredNow(step, binary)
		: await stored(step, binary, label);
	const { id } = file;
	const notSigned = `${label}: n8n cannot give the service a URL of the file`;
	if (!id) {
		throw new InvalidInputError(
			`${notSigned}: n8n keeps files in memory`,
			`Set n8n’s environment variable N8N_DEFAULT_BINARY_DATA_MODE to filesystem, and restart n8n. ${instead}`,
		);
	}
	const sign = () => {
		try {
			return helpers.createBinarySignedUrl(file, '1 hour');
		} catch (error) {
			throw unreadInput(notSigned, error, instead);
		}
	};
	const signed = new FreshValue(sign);
	// The checks below passed before the sleep. Repeated now, they would fail the item if the storage is down for a moment.
	if (isAfterSleep(step)) return signed;
	if (!sign().startsWith('https://')) {
		throw new InvalidInputError(
			`${label}: the service cannot fetch the file, because n8n’s public address is not https`,
			`Set n8n’s environment variable WEBHOOK_URL to the https address under which the internet reaches n8n, and restart n8n. ${instead}`,
		);
	}
	const found = await toResult(async () => await helpers.getBinaryMetadata(id));
	if (!found.ok) throw unreadable(label, found.error);
	return signed;
}

/**
 * Returns a file whose id stays the same. If only the item holds the data, stores the data and changes the item's `binary`
 * to the stored file, so that retries and helper executions find that file. A webhook's file is copied, because n8n renames
 * the original when the execution sleeps or ends. A signed URL of the original would then fail.
 */
async function stored(step: Step, binary: IBinaryData, label: string): Promise<IBinaryData> {
	const { id, data, fileName, mimeType } = binary;
	if (id && lastingId(step, binary) === id) return binary;
	const { helpers } = step.n8n;
	const kept = await toResult(async () => {
		const content = id ? await helpers.getBinaryStream(id) : Buffer.from(data, 'base64');
		return await helpers.prepareBinaryData(content, fileName, mimeType);
	});
	if (!kept.ok) throw unreadable(label, kept.error);
	if (id) return kept.value;
	if (kept.value.id) Object.assign(binary, kept.value, { [CONTENT_DIGEST]: digest(data) });
	return binary;
}
