import { startSandbox } from '../sandbox/server';
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
