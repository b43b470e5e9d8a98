import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { startSandbox } from '../sandbox/server';
import { http } from '../tools/http';
import { idealMakespan } from './batch';
import { runInEngine, type EngineReport } from './engine';
import { fixed, megabytes, type Row, type Tables } from './report';

/** One step in real time. */
interface LiveCase {
	name: string;
	items: number;
	limit: number;
	/** Seconds that each generation takes. */
	seconds: number;
	readiness?: 'auto' | 'status';
	/** True to download the outputs, and to watch memory and pauses. */
	download?: boolean;
}

const CASES: LiveCase[] = [
	{ name: '30 items of 2 s, 10 at a time', items: 30, limit: 10, seconds: 2 },
	{ name: '30 items of 4 s, 10 at a time', items: 30, limit: 10, seconds: 4 },
	{ name: '250 items of 2 s, 25 at a time', items: 250, limit: 25, seconds: 2 },
	{ name: '250 items of 4 s, 25 at a time', items: 250, limit: 25, seconds: 4 },
	...(['auto', 'status'] as const).map((readiness) => {
		const name = `25 items of 30 s at once, readiness ${readiness}`;
		return { name, items: 25, limit: 25, seconds: 30, readiness };
	}),
	{ name: '1,000 images of 2 s, 25 at a time', items: 1000, limit: 25, seconds: 2, download: true },
];

/** A batch with the built node in n8n's engine, over HTTP and in real time. */
export async function live(quick: boolean): Promise<Tables> {
	const rows: Row[] = [];
	let seconds = 0;
	for (const shape of quick ? [{ ...CASES[6], items: 50 }] : CASES) {
		const report = await runLive(shape);
		rows.push(rowOf(shape, report));
		seconds = report.seconds;
	}
	// What n8n and the machine cause by themselves, in the time of the last case.
	const idle = { name: 'a node that does nothing, for as long', items: 1000, download: true };
	const report = await runInEngine({
		step: { type: 'bench.idler' },
		...{ credential: { baseUrl: '', apiKey: '' }, warmUp: [{ idleMs: 0 }], watched: true },
		items: prompts(idle.items).map((prompt) => ({ prompt, idleMs: seconds * 1000 })),
	});
	return { live: [...rows, rowOf({ ...idle, limit: 1, seconds: 0 }, report)] };
}

async function runLive(shape: LiveCase): Promise<EngineReport> {
	const { items, limit, seconds, readiness, download } = shape;
	const sandbox = await startSandbox({ seed: 1, generationSeconds: seconds });
	try {
		const { key: apiKey, account } = sandbox.service.accounts.keyOf('hero');
		account.concurrency = limit;
		const model = download ? 'lumen-turbo' : 'inkwell-animate';
		const parameters = {
			...{ model: { __rl: true, mode: 'id', value: model }, prompt: '={{ $json.prompt }}' },
			...(download ? { options: { size: '256x256' } } : { downloadOutput: false }),
			runOptions: { maxConcurrent: limit, ...(readiness && { readiness }) },
		};
		const node = download ? 'imageGeneration' : 'videoGeneration';
		return await runInEngine({
			step: { type: `n8n-nodes-media-generation.${node}`, parameters },
			credential: { baseUrl: sandbox.url, apiKey },
			warmUp: [{ prompt: 'warm-up [seconds: 0.1]' }],
			items: prompts(items).map((prompt) => ({ prompt })),
			watched: download,
		});
	} finally {
		await sandbox.close();
	}
}

const prompts = (count: number) => Array.from({ length: count }, (_, index) => `Wave ${index}`);

function rowOf({ name, items, limit, seconds, download }: LiveCase, report: EngineReport): Row {
	const ideal = idealMakespan(new Array<number>(items).fill(seconds), limit);
	const { cpuSeconds, growthBytes, longestPauseMs, ownPauseMs } = report;
	const pause = `${fixed(longestPauseMs, 0)} ms (${fixed(ownPauseMs, 0)} ms)`;
	return {
		'': name,
		'time ÷ ideal': seconds === 0 ? '' : (report.seconds / ideal).toFixed(2),
		'CPU cores used by n8n': (cpuSeconds / report.seconds).toFixed(2),
		'additional memory': download ? megabytes(growthBytes) : '',
		'longest event-loop pause (its own)': download ? pause : '',
	};
}

/** The maximum load of a step on a storage: 32 probes a second, however many generations run. */
const PROBES_A_SECOND = 32;

/** What requesting the first byte of outputs that are not there yet costs n8n. Each probe opens a connection. */
export async function probes(quick: boolean): Promise<Tables> {
	const seconds = quick ? 2 : 10;
	const folder = await mkdtemp(join(tmpdir(), 'bench-probes-'));
	const sandbox = await startSandbox();
	const url = await pendingUrl(sandbox.url, sandbox.keys.hero);
	const secure = await securely(url, folder);
	const rowFor = async (storage: string, of: string, env: Record<string, string>): Promise<Row> => {
		const each = { url: of, probeMs: seconds * 1000 };
		const report = await runInEngine(
			{
				...{ step: { type: 'bench.prober' }, credential: { baseUrl: '', apiKey: '' } },
				warmUp: new Array(PROBES_A_SECOND).fill({ ...each, probeMs: 3000 }),
				items: new Array(PROBES_A_SECOND).fill(each),
			},
			env,
		);
		const statuses = report.output.flatMap((json) => json.statuses as number[]);
		if (statuses.some((status) => status !== 404)) throw new Error(`${storage}: not only 404`);
		return {
			storage,
			'probes a second': fixed(statuses.length / report.seconds, 0),
			'CPU for one': `${((1000 * report.cpuSeconds) / statuses.length).toFixed(2)} ms`,
			'CPU cores used by n8n': (report.cpuSeconds / report.seconds).toFixed(3),
		};
	};
	try {
		const trusted = { NODE_EXTRA_CA_CERTS: secure.certificate };
		const rows = [await rowFor('http', url, {}), await rowFor('https', secure.url, trusted)];
		return { probes: rows };
	} finally {
		secure.close();
		await sandbox.close();
		await rm(folder, { recursive: true });
	}
}

/** Returns the presigned URL of an output that will not exist for hours. */
async function pendingUrl(service: string, key: string): Promise<string> {
	const body = { model: 'lumen-turbo', prompt: 'a boat [seconds: 9999]' };
	const headers = { authorization: `Bearer ${key}` };
	const made = await http.post<{ data: Array<{ url: string }> }>(
		`${service}/v1/images/generations`,
		body,
		{ headers },
	);
	return made.data.data[0].url;
}

/** Serves the same origin over https, with a certificate created for it. */
async function securely(url: string, folder: string) {
	const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
	const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
	const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
	const files = ['-keyout', key, '-out', certificate];
	const args = ['req', '-x509', '-days', '2', ...curve, ...subject, ...files];
	await promisify(execFile)('openssl', args);
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
