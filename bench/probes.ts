import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { ProbeReport, ProbeTask } from './probe-worker';
import { askWorker } from './worker';

const run = promisify(execFile);

/** The maximum load of a step on a storage: 32 probes a second, however many generations run. */
const GENERATIONS = 32;
const EVERY_MS = 1000;
const SECONDS = 10;

export interface ProbesResult {
	name: string;
	probesPerSecond: number;
	cpuMsPerProbe: number;
	/** CPU time of n8n's process divided by elapsed time. */
	ofOneCore: number;
}

/**
 * Measures what probing output URLs costs n8n. A separate process probes a file that does not exist yet, and reports
 * its CPU time. Each probe uses a new connection, as in n8n.
 *
 * @param url a presigned http URL
 */
export async function runProbes(url: string): Promise<ProbesResult[]> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-probes-'));
	try {
		const secure = await securely(url, folder);
		try {
			return [
				await measure('http', url, {}),
				await measure('https', secure.url, { NODE_EXTRA_CA_CERTS: secure.certificate }),
			];
		} finally {
			secure.close();
		}
	} finally {
		await rm(folder, { recursive: true });
	}
}

async function measure(
	name: string,
	url: string,
	env: Record<string, string>,
): Promise<ProbesResult> {
	const task: ProbeTask = { url, generations: GENERATIONS, everyMs: EVERY_MS, seconds: SECONDS };
	const { probes, statuses, cpuMs } = await askWorker<ProbeReport>('probe-worker.ts', task, {
		env,
	});
	if (statuses.join() !== '404') throw new Error(`The storage answered with ${statuses.join()}`);
	return {
		name,
		probesPerSecond: probes / SECONDS,
		cpuMsPerProbe: cpuMs / probes,
		ofOneCore: cpuMs / 1000 / SECONDS,
	};
}

/** Serves the same origin over https, with a certificate created for it. */
async function securely(url: string, folder: string) {
	const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
	const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
	const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
	const files = ['-keyout', key, '-out', certificate];
	await run('openssl', ['req', '-x509', '-days', '2', ...curve, ...subject, ...files]);
	const { host, hostname, port, pathname, search } = new URL(url);
	const pem = { key: await readFile(key), cert: await readFile(certificate) };
	const server = createServer(pem, (asked, answer) => {
		const headers = { ...asked.headers, host };
		const forwarded = request({ hostname, port, path: asked.url, headers }, (given) => {
			answer.writeHead(given.statusCode ?? 502, given.headers);
			given.pipe(answer);
		});
		forwarded.end();
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const own = (server.address() as AddressInfo).port;
	return {
		url: `https://127.0.0.1:${own}${pathname}${search}`,
		certificate,
		close: () => server.closeAllConnections() ?? server.close(),
	};
}
