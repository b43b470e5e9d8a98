import { statSync } from 'node:fs';

import { createEngine } from '../tools/engine';
import { waitWorkflow, type DownloadTask, type DownloadReport } from './download-task';
import { workAlone } from './worker';

/**
 * A process of its own, so that its memory is that of n8n's engine and the node alone: fetches finished generations
 * through Wait for Completion into n8n's storage, and reports how its memory grew.
 */
async function main(task: DownloadTask): Promise<DownloadReport> {
	const engine = await createEngine({ nodes: 'dist', binaryMode: 'filesystem' });
	try {
		const fetch = async (ids: string[]) => {
			const run = await engine.run(waitWorkflow(), {
				credentials: { mediaGenerationApi: { baseUrl: task.baseUrl, apiKey: task.apiKey } },
				input: ids.map((id) => ({ json: { id } })),
			});
			if (run.status !== 'success') throw run.error ?? new Error(run.status);
			return run;
		};
		// The first run loads code and fills pools: it is not what a download costs.
		await fetch([task.warmUpId]);

		const memory = watchMemory();
		const started = performance.now();
		const run = await fetch(task.ids);
		const seconds = (performance.now() - started) / 1000;
		const growthBytes = memory.stop();
		const bytes = run
			.output('Wait')
			.map(({ binary }) => (binary ? statSync(run.binaryPath(binary.data)).size : 0))
			.reduce((sum, size) => sum + size, 0);
		return { seconds, growthBytes, bytes };
	} finally {
		await engine.close();
	}
}

/** Follows the resident memory of this process. `stop` returns the most by which it grew, in bytes. */
function watchMemory(): { stop: () => number } {
	global.gc?.();
	const before = process.memoryUsage.rss();
	let most = before;
	const sample = () => (most = Math.max(most, process.memoryUsage.rss()));
	const timer = setInterval(sample, 20);
	return {
		stop: () => {
			clearInterval(timer);
			sample();
			return most - before;
		},
	};
}

workAlone(main);
