import { probeWith } from '../nodes/shared/http/transport';
import { createEngine } from '../tools/engine';
import { bareNode } from '../tools/engine/bare-node';
import { inARow } from '../tools/engine/in-a-row';
import { workAlone } from './worker';

/** The URL that the worker process probes, and how often. */
export interface ProbeTask {
	url: string;
	/** Number of generations in flight, each of which is probed separately. */
	generations: number;
	/** Milliseconds from one probe of a generation to the next. */
	everyMs: number;
	seconds: number;
}

/** The cost for this process. */
export interface ProbeReport {
	probes: number;
	statuses: number[];
	cpuMs: number;
}

const sleep = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Probes with n8n's HTTP helper, as our nodes do. */
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
		// Warm-up: compiling code is not part of the cost of a probe.
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
