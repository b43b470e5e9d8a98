import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { DownloadReport, DownloadTask } from './download-task';
import { askWorker } from './worker';

const run = promisify(execFile);

/** How often curl and the node take turns. Reported is the median of the times, and the largest growth. */
const ROUNDS = 9;

export interface DownloadCase {
	name: string;
	files: number;
	/** As the sandbox's prompts take it, such as `50MB`. */
	size: string;
}

export interface DownloadResult extends DownloadReport {
	name: string;
	megabytesPerSecond: number;
	/** Throughput over that of plain curl into files, one after the other, in the same run. */
	ofCurl: number;
}

interface Service {
	url: string;
	key: string;
}

/** Makes the outputs, fetches them with curl and through the node, and compares. */
export async function runDownload(
	service: Service,
	download: DownloadCase,
): Promise<DownloadResult> {
	const made = await Promise.all(
		Array.from(
			{ length: download.files },
			async (_, index) =>
				await create(service, `file ${index} [seconds: 0.01] [size: ${download.size}]`),
		),
	);
	const warmUp = await create(service, 'warm-up [seconds: 0.01]');
	const task: DownloadTask = {
		baseUrl: service.url,
		apiKey: service.key,
		warmUpId: warmUp.id,
		ids: made.map(({ id }) => id),
	};
	const curl: number[] = [];
	const node: DownloadReport[] = [];
	// In turn, so that what the disk is busy with meets both alike.
	for (let round = 0; round < ROUNDS; round++) {
		curl.push(await secondsOfCurl(made.map(({ url }) => url)));
		node.push(await askWorker('download-worker.ts', task, { flags: ['--expose-gc'] }));
	}
	const [{ bytes }] = node;
	const seconds = median(node.map((report) => report.seconds));
	return {
		name: download.name,
		bytes,
		seconds,
		growthBytes: Math.max(...node.map(({ growthBytes }) => growthBytes)),
		megabytesPerSecond: bytes / 1024 ** 2 / seconds,
		ofCurl: median(curl) / seconds,
	};
}

function median(values: number[]): number {
	return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** A finished generation. The sandbox makes a file when it is first asked for, so that is done here as well. */
async function create({ url, key }: Service, prompt: string): Promise<{ id: string; url: string }> {
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
	const body = JSON.stringify({ model: 'lumen-loop', prompt, duration: 1, resolution: '480p' });
	const created = await fetch(`${url}/v1/videos/generations`, { method: 'POST', headers, body });
	const { id } = (await created.json()) as { id: string };
	for (;;) {
		const looked = await fetch(`${url}/v1/generations/${id}`, { headers });
		const seen = (await looked.json()) as { status: string; data: Array<{ url: string }> };
		if (seen.status === 'completed') {
			await fetch(seen.data[0].url, { headers: { range: 'bytes=0-0' } });
			return { id, url: seen.data[0].url };
		}
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

async function secondsOfCurl(urls: string[]): Promise<number> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-download-'));
	try {
		let seconds = 0;
		for (const [index, url] of urls.entries()) {
			const file = join(folder, String(index));
			const args = ['-sS', '--fail', '-o', file, '-w', '%{time_total}', url];
			seconds += Number((await run('curl', args)).stdout);
		}
		return seconds;
	} finally {
		await rm(folder, { recursive: true });
	}
}
