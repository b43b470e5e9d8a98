import type { DownloadAction, FaultAction } from '../faults';
import { statusAt } from '../generations/generations';
import type { Generation, Output } from '../generations/generations';
import type { PresignFault, Presigner } from './presign';
import { faulted, paceOf } from '../requests/reply';
import type { Reply } from '../requests/reply';
import type { ServiceRequest } from '../requests/request';

/** A response of the storage origin: an error with a body, or an output to send. */
export interface StorageReply extends Reply {
	/** The file to send. The status and range are determined once its size is known. */
	output: Output | null;
	/** The fault to apply while it is sent. */
	fault: DownloadAction | null;
}

/** The data that the storage needs about the requested file. */
interface Shelf {
	readonly presigner: Presigner;
	readonly generation: Generation | undefined;
	readonly now: number;
	readonly missingStatus: 403 | 404;
	/** URLs that a cache in front of the storage reports as missing, and until when (milliseconds). */
	readonly misses: Map<string, number>;
}

function urlOf({ path, query }: ServiceRequest): string {
	return `${path}?${query?.['X-Amz-Signature']}`;
}

function isMissed(request: ServiceRequest, { misses, now }: Shelf): boolean {
	return now < (misses.get(urlOf(request)) ?? 0);
}

function xmlAnswer(status: number, code: string, message: string): StorageReply {
	const body =
		'<?xml version="1.0" encoding="UTF-8"?>\n' +
		`<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
	return {
		status,
		headers: { 'content-type': 'application/xml' },
		body,
		delivery: 'answer',
		delayMs: 0,
		happened: code,
		output: null,
		fault: null,
	};
}

const refusals: Readonly<Record<Exclude<PresignFault, null>, readonly [string, string]>> = {
	unsigned: ['AccessDenied', 'Access Denied'],
	tampered: [
		'SignatureDoesNotMatch',
		'The request signature we calculated does not match the signature you provided.',
	],
	expired: ['AccessDenied', 'Request has expired'],
};

function refused(fault: Exclude<PresignFault, null>): StorageReply {
	return xmlAnswer(403, ...refusals[fault]);
}

function missing({ missingStatus }: Shelf): StorageReply {
	if (missingStatus === 403) return refused('unsigned');
	return xmlAnswer(404, 'NoSuchKey', 'The specified key does not exist.');
}

/** @param aheadMs how long before its generation is completed a file becomes available */
function lookUp(request: ServiceRequest, shelf: Shelf, aheadMs = 0): StorageReply {
	// Like S3, rejects a request with both a signature in the query and an Authorization header.
	if (request.headers.authorization !== undefined) {
		return xmlAnswer(400, 'InvalidArgument', 'Only one auth mechanism allowed');
	}
	// The signature is only valid for GET, not for HEAD (spec 4.3).
	if (request.method !== 'GET') return refused('tampered');
	const { presigner, generation, now } = shelf;
	const fault = presigner.check(request.path, request.query ?? {}, now);
	if (fault) return refused(fault);
	const written = generation !== undefined && statusAt(generation, now + aheadMs) === 'completed';
	if (!written || isMissed(request, shelf)) return missing(shelf);
	const { output } = generation;
	return { ...xmlAnswer(200, '', ''), body: undefined, headers: {}, happened: 'sent', output };
}

/** Returns the storage's response to a request for a presigned URL, with the fault if one was ordered. */
export function fetchOutput(
	request: ServiceRequest,
	shelf: Shelf,
	action: FaultAction | null,
): StorageReply {
	if (!action) return lookUp(request, shelf);
	switch (action.kind) {
		case 'expire':
			return refused('expired');
		case 'truncate':
		case 'stall':
		case 'contentType':
		case 'noContentLength':
		case 'wrongLength':
		case 'gzip':
		case 'ignoreRange':
		case 'partialContent':
			return { ...lookUp(request, shelf), fault: action };
		case 'trickle':
			return { ...lookUp(request, shelf), fault: action, pace: paceOf(action) };
		case 'early':
			return lookUp(request, shelf, action.seconds * 1000);
		case 'remember404': {
			const found = lookUp(request, shelf);
			const { misses, now } = shelf;
			const isNew = !found.output && !isMissed(request, shelf);
			if (isNew) misses.set(urlOf(request), now + action.seconds * 1000);
			return found;
		}
		default: {
			const found = lookUp(request, shelf);
			const output = action.kind === 'delay' ? found.output : null;
			return { ...found, ...faulted(action, () => found), output };
		}
	}
}
