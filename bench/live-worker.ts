import { performance } from 'node:perf_hooks';

import { createEngine } from '../tools/engine';
import type { LiveReport, LiveTask } from './live';
import { workAlone } from './worker';

/** Runs in a separate process, so that its CPU time is only that of n8n's engine and the node. */
async function main({ baseUrl, apiKey, items, workflow }: LiveTask): Promise<LiveReport> {
	const engine = await createEngine({ nodes: 'dist', binaryMode: 'filesystem' });
	try {
		const execute = async (prompts: string[]) => {
			const run = await engine.run(workflow, {
				credentials: { mediaGenerationApi: { baseUrl, apiKey } },
				input: prompts.map((prompt) => ({ json: { prompt } })),
			});
			if (run.status !== 'success') throw run.error ?? new Error(run.status);
		};
		// The first run loads code and fills pools, which is not part of the cost of a batch.
		await execute(['warm-up [seconds: 0.1]']);
		const before = process.cpuUsage();
		const started = performance.now();
		await execute(Array.from({ length: items }, (_, index) => `Wave ${index}`));
		const makespanSeconds = (performance.now() - started) / 1000;
		const { user, system } = process.cpuUsage(before);
		return { makespanSeconds, cpuSeconds: (user + system) / 1e6 };
	} finally {
		await engine.close();
	}
}

workAlone(main);
