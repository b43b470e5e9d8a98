import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';

/**
 * Opens a log file for appending. If it cannot be written, such as on a full disk, prints one line and drops what
 * follows: without a listener, the error would end this process and with it n8n.
 */
export function openLog(file: string): WriteStream {
	const log = createWriteStream(file, { flags: 'a' });
	log.on('error', ({ message }) =>
		process.stderr.write(`The log ${file} cannot be written: ${message}\n`),
	);
	return log;
}
