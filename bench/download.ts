import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { startSandbox } from '../sandbox/server';
import { http } from '../tools/http';
import { runInEngine, type EngineReport } from './engine';
import { median, megabytes, type Row, type Tables } from './report';

const run = promisify(execFile);

/** Sizes are in the format of the sandbox's prompts. */
const DOWNLOADS = [
	{ name: 'one file of 1 GiB', files: 1, size: '1GB' },
	{ name: '20 files of 50 MB at once', files: 20, size: '50MB' },
];
/** Each with curl and all nodes. The result is the median time and the largest memory growth. */
const ROUNDS = 8;

/** The ways to fetch files into n8n, from the complete node to the bare minimum. */
const WAYS = {
	node: { type: 'n8n-nodes-media-generation.waitForCompletion', store: true },
	helpers: { type: 'bench.downloader', store: true },
	reading: { type: 'bench.downloader', store: false },
};
type Way = keyof typeof WAYS;

/** A finished generation. */
interface Made {
	id: string;
	url: string;
}

/** Downloads into n8n's storage, compared with curl and with n8n's helpers alone. */
export async function download(quick: boolean): Promise<Tables> {
	const sandbox = await startSandbox({ timeScale: 100 });
	const small = [{ name: '2 files of 5 MB', files: 2, size: '5MB' }];
	try {
		const rows: Row[] = [];
		for (const { name, files, size } of quick ? small : DOWNLOADS) {
			const create = async (prompt: string) => await made(sandbox.url, sandbox.keys.hero, prompt);
			const prompts = Array.from({ length: files }, (_, index) => `file ${index} [size: ${size}]`);
			const outputs = await Promise.all(prompts.map(create));
			const warmUp = await create('warm-up');
			const fetchBy = async (way: Way): Promise<EngineReport> => {
				const { type, store } = WAYS[way];
				const items = (of: Made[]) => of.map((each) => ({ ...each, store }));
				const credential = { baseUrl: sandbox.url, apiKey: sandbox.keys.hero };
				const shape = { step: { type }, credential, watched: true };
				return await runInEngine({ ...shape, warmUp: items([warmUp]), items: items(outputs) });
			};
			rows.push(await rowOf(name, outputs, fetchBy, quick ? 1 : ROUNDS));
		}
		return { download: rows };
	} finally {
		await sandbox.close();
	}
}

async function rowOf(
	name: string,
	outputs: Made[],
	fetchBy: (way: Way) => Promise<EngineReport>,
	rounds: number,
): Promise<Row> {
	const curl: number[] = [];
	const reports: Record<Way, EngineReport[]> = { node: [], helpers: [], reading: [] };
	for (let round = 0; round < rounds; round++) {
		// Without `sync`, data written by the previous turn would keep the disk busy for a while.
		await run('sync');
		curl.push(await secondsOfCurl(outputs));
		for (const [way, all] of Object.entries(reports)) {
			await run('sync');
			all.push(await fetchBy(way as Way));
		}
	}
	const ofCurl = (way: Way) =>
		(median(curl) / median(reports[way].map(({ seconds }) => seconds))).toFixed(2);
	return {
		'': name,
		'additional memory': megabytes(Math.max(...reports.node.map((report) => report.growthBytes))),
		'of curl’s speed': ofCurl('node'),
		'n8n’s helpers alone': ofCurl('helpers'),
		'read and thrown away': ofCurl('reading'),
	};
}

/** Returns a finished generation. Requests the file once, because the sandbox creates it at the first request. */
async function made(service: string, key: string, prompt: string): Promise<Made> {
	const headers = { authorization: `Bearer ${key}` };
	const body = { model: 'lumen-loop', prompt: `${prompt} [seconds: 0.01]`, duration: 1 };
	const request = { ...body, resolution: '480p' };
	const created = await http.post(`${service}/v1/videos/generations`, request, { headers });
	const { id } = created.data as Made;
	for (;;) {
		const { data } = await http.get(`${service}/v1/generations/${id}`, { headers });
		const { status, data: files } = data as { status: string; data: Made[] };
		if (status === 'completed') {
			await http.get(files[0].url, { headers: { range: 'bytes=0-0' } });
			return { id, url: files[0].url };
		}
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}

/** Fetches the files one after the other. */
async function secondsOfCurl(outputs: Made[]): Promise<number> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-download-'));
	try {
		let seconds = 0;
		for (const { id, url } of outputs) {
			const args = ['-sS', '--fail', '-o', join(folder, id), '-w', '%{time_total}', url];
			seconds += Number((await run('curl', args)).stdout);
		}
		return seconds;
	} finally {
		await rm(folder, { recursive: true });
	}
}
