import { gzipSync } from 'node:zlib';
import type { Express, Response } from 'express';
import type { Output } from '../generations/generations';
import type { MediaLibrary } from '../media/library';
import { readFile } from '../media/file';
import type { MediaFile } from '../media/file';
import type { ServiceRequest } from '../requests/request';
import type { GenerationService } from '../service';
import type { StorageReply } from '../storage/storage';
import { deliver, waitForTurn, writeBody } from './deliver';
import type { LogLine } from './log';
import { requestedRange } from './range';
import { serviceRequest } from './request';

interface Sending {
	status: number;
	headers: Record<string, string | number>;
	bytes: Iterable<Buffer>;
}

type Fault = StorageReply['fault'];

function headersOf(file: MediaFile, fault: Fault, length: number): Sending['headers'] {
	const contentType = fault?.kind === 'contentType' ? fault.value : file.contentType;
	const headers: Sending['headers'] = { 'content-type': contentType, 'accept-ranges': 'bytes' };
	const chunked = fault?.kind === 'truncate' && fault.chunked;
	if (fault?.kind === 'wrongLength') {
		headers['content-length'] = Math.max(0, length + fault.by);
		headers.connection = 'close';
	} else if (fault?.kind !== 'noContentLength' && !chunked) {
		headers['content-length'] = length;
	}
	if (fault?.kind === 'gzip') headers['content-encoding'] = 'gzip';
	return headers;
}

/** Returns the range to send, as the value of a Range header; undefined for the whole file. */
function wantedRange(asked: ServiceRequest, file: MediaFile, fault: Fault): string | undefined {
	if (fault?.kind === 'ignoreRange') return undefined;
	if (fault?.kind === 'partialContent') return `bytes=0-${(fault.bytes ?? file.size) - 1}`;
	return asked.headers.range;
}

/** Returns the status, headers and bytes of a response, or null if the range is outside the file. */
function plan(asked: ServiceRequest, file: MediaFile, fault: Fault): Sending | null {
	const wanted = wantedRange(asked, file, fault);
	const range = requestedRange(wanted, file.size);
	if (range === 'unsatisfiable') return null;
	const { start, end } = range ?? { start: 0, end: file.size };
	if (fault?.kind === 'gzip') {
		const encoded = gzipSync(Buffer.concat([...readFile(file, start, end)]));
		return { status: 200, headers: headersOf(file, fault, encoded.length), bytes: [encoded] };
	}
	const headers = headersOf(file, fault, end - start);
	const limit = fault?.kind === 'truncate' || fault?.kind === 'stall' ? fault.afterBytes : Infinity;
	const bytes = readFile(file, start, Math.min(end, start + limit));
	// Spec 4.3: the one-byte probe gets a 200. Other ranges follow the HTTP standard.
	const isProbe = wanted === 'bytes=0-0' && fault?.kind !== 'partialContent';
	if (!range || isProbe) return { status: 200, headers, bytes };
	headers['content-range'] = `bytes ${start}-${end - 1}/${file.size}`;
	return { status: 206, headers, bytes };
}

/** Sends the file. A fault can cut it short or leave it unfinished. */
async function send(response: Response, sending: Sending, answered: StorageReply): Promise<void> {
	const { fault } = answered;
	response.writeHead(sending.status, sending.headers);
	response.flushHeaders();
	await writeBody(response, sending.bytes, answered);
	if (fault?.kind === 'truncate' || fault?.kind === 'wrongLength') {
		// The socket is closed: all bytes arrive, but HTTP does not mark the response as complete.
		response.socket?.end();
	} else if (fault?.kind !== 'stall') {
		response.end();
	}
}

async function sendOutput(
	response: Response,
	asked: ServiceRequest,
	answered: StorageReply,
	output: Output,
	library: MediaLibrary,
): Promise<void> {
	const { record } = answered;
	if (!(await waitForTurn(response, answered.delayMs))) {
		if (record) Object.assign(record, { answered: false, status: null });
		return;
	}
	const probed = asked.headers.range === 'bytes=0-0' && answered.fault === null;
	const file = probed ? library.glimpse(output) : await library.open(output);
	const sending = plan(asked, file, answered.fault);
	if (!sending) {
		const headers = { 'content-range': `bytes */${file.size}` };
		Object.assign(answered, { status: 416, headers, delayMs: 0, happened: 'no such range' });
		if (record) record.status = 416;
		return await deliver(response, answered);
	}
	if (record) record.status = sending.status;
	try {
		await send(response, sending, answered);
	} catch {
		// The client disconnected early. That is not an error, but the response is incomplete.
		if (record) record.answered = false;
		response.destroy();
	}
}

/** Serves the storage origin over HTTP: presigned URLs of finished outputs (spec 4.3). */
export function addStorageRoutes(
	app: Express,
	service: GenerationService,
	library: MediaLibrary,
	log: LogLine,
): void {
	app.use(async (request, response) => {
		const started = performance.now();
		const asked = serviceRequest(request);
		const answered = service.fetchOutput(asked);
		if (answered.output) await sendOutput(response, asked, answered, answered.output, library);
		else await deliver(response, answered);
		const { status, delivery, happened } = answered;
		const milliseconds = performance.now() - started;
		log({ ...asked, status: answered.record?.status ?? status, delivery, happened, milliseconds });
	});
}
