import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { http } from '../tools/http';
import type { DownloadReport, DownloadTask, MadeFile, Way } from './download-task';
import { median } from './figures';
import type { ProfileShares } from './profile';
import { askWorker } from './worker';

const run = promisify(execFile);

/** Number of rounds, each with curl and all nodes. The result has the median time and the largest memory growth. */
const ROUNDS = 8;

const WAYS: Way[] = ['node', 'helper', 'reading'];

export interface DownloadCase {
	name: string;
	files: number;
	/** File size in the format of the sandbox's prompts, such as `50MB`. */
	size: string;
}

export interface DownloadResult {
	name: string;
	bytes: number;
	growthBytes: number;
	/** MiB per second. */
	megabytesPerSecond: number;
	/** Speed relative to plain curl in the same run. curl downloads the files one after the other. */
	ofCurl: Record<Way, number>;
	/** How the node spent its time, from a separate run. */
	shares: ProfileShares;
}

interface Service {
	url: string;
	key: string;
}

interface Entry {
	id: string;
	status: string;
	data: Array<{ url: string }>;
}

/** Creates the outputs, and compares fetching them with curl, with the node and with n8n's helpers alone. */
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
	const fetchBy = async (way: Way, profiled = false): Promise<DownloadReport> => {
		const { url: baseUrl, key: apiKey } = service;
		const task: DownloadTask = { way, baseUrl, apiKey, warmUp, files: made, profiled };
		return await askWorker('download-worker.ts', task, { flags: ['--expose-gc'] });
	};
	const curl: number[] = [];
	const reports: Record<Way, DownloadReport[]> = { node: [], helper: [], reading: [] };
	const turns = [
		async () => curl.push(await secondsOfCurl(made.map(({ url }) => url))),
		...WAYS.map((way) => async () => reports[way].push(await fetchBy(way))),
	];
	for (let round = 0; round < ROUNDS; round++) {
		for (const turn of turns) {
			// Without this, data written by the previous turn would keep the disk busy for a while.
			await run('sync');
			await turn();
		}
	}
	const seconds = (way: Way) => median(reports[way].map((report) => report.seconds));
	const ofCurl = (way: Way) => median(curl) / seconds(way);
	const { bytes, shares } = await fetchBy('node', true);
	if (!shares) throw new Error('The worker has no profile');
	return {
		name: download.name,
		bytes,
		growthBytes: Math.max(...reports.node.map(({ growthBytes }) => growthBytes)),
		megabytesPerSecond: bytes / 1024 ** 2 / seconds('node'),
		ofCurl: { node: ofCurl('node'), helper: ofCurl('helper'), reading: ofCurl('reading') },
		shares,
	};
}

/** Returns a finished generation. Requests the file once, because the sandbox creates it at the first request. */
async function create({ url, key }: Service, prompt: string): Promise<MadeFile> {
	const headers = { authorization: `Bearer ${key}` };
	const body = { model: 'lumen-loop', prompt, duration: 1, resolution: '480p' };
	const created = await http.post<Entry>(`${url}/v1/videos/generations`, body, { headers });
	const { id } = created.data;
	for (;;) {
		const { data: seen } = await http.get<Entry>(`${url}/v1/generations/${id}`, { headers });
		if (seen.status === 'completed') {
			await http.get(seen.data[0].url, { headers: { range: 'bytes=0-0' } });
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
