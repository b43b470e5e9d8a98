import { probeWith } from '../nodes/shared/http/transport';
import { createEngine } from '../tools/engine';
import { bareNode } from '../tools/engine/bare-node';
import { inARow } from '../tools/engine/in-a-row';
import { workAlone } from './worker';

/** What the worker process is to ask for, and how often. */
export interface ProbeTask {
	url: string;
	/** Generations in flight, each asked for by itself. */
	generations: number;
	/** Milliseconds from one probe of a generation to its next. */
	everyMs: number;
	seconds: number;
}

/** What that cost this process. */
export interface ProbeReport {
	probes: number;
	statuses: number[];
	cpuMs: number;
}

const sleep = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Probes as our nodes do, through n8n's HTTP helper. */
const prober = bareNode('prober', {
	async execute() {
		const { url, generations, everyMs, seconds } = this.getInputData()[0]
			.json as unknown as ProbeTask;
		const probe = probeWith(this);
		const statuses = new Set<number>();
		const stop = new AbortController();
		let probes = 0;
		const ask = async (forMs: number) => {
			const end = performance.now() + forMs;
			await Promise.all(
				Array.from({ length: generations }, async (_, index) => {
					await sleep((index * everyMs) / generations);
					while (performance.now() < end) {
						const next = performance.now() + everyMs;
						statuses.add((await probe(url, stop.signal)).status);
						probes++;
						await sleep(Math.max(0, next - performance.now()));
					}
				}),
			);
		};
		// Code that is not yet compiled is not what a probe costs.
		await ask(3000);
		probes = 0;
		const before = process.cpuUsage();
		await ask(seconds * 1000);
		const { user, system } = process.cpuUsage(before);
		const report: ProbeReport = { probes, statuses: [...statuses], cpuMs: (user + system) / 1000 };
		return [[{ json: { ...report } }]];
	},
});

async function main(task: ProbeTask): Promise<ProbeReport> {
	const engine = await createEngine({ extraNodes: { 'bench.prober': prober } });
	try {
		const workflow = inARow({ name: 'Probe', type: 'bench.prober' });
		const run = await engine.run(workflow, { input: [{ json: { ...task } }] });
		if (run.status !== 'success') throw run.error ?? new Error(run.status);
		return run.output('Probe')[0].json as unknown as ProbeReport;
	} finally {
		await engine.close();
	}
}

workAlone(main);
