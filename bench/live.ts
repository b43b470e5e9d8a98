import type { Readiness } from '../client/job';
import type { NodeParameterValueType } from 'n8n-workflow';
import { startSandbox } from '../sandbox/server';
import { inARow } from '../tools/engine/in-a-row';
import type { WorkflowJson } from '../tools/engine/run';
import { idealMakespan } from './batch';
import { askWorker } from './worker';

/** One batch, in real time. */
export interface LiveCase {
	items: number;
	limit: number;
	/** Seconds that each generation takes. */
	seconds: number;
	readiness?: Readiness;
}

/** The task of the worker, as JSON. */
export interface LiveTask {
	baseUrl: string;
	apiKey: string;
	items: number;
	workflow: WorkflowJson;
}

/** The worker's measurements, as JSON. */
export interface LiveReport {
	makespanSeconds: number;
	/** CPU time of n8n's engine and the node in seconds. */
	cpuSeconds: number;
}

export interface LiveResult extends LiveReport {
	/** Makespan divided by the ideal. */
	ratio: number;
	/** Average share of one CPU core used while the batch ran. */
	cpuShare: number;
}

/**
 * Runs one batch with the built node, in n8n's engine and over real HTTP, with the node's default settings. The engine
 * runs in a separate process, so that its CPU time does not include that of the service.
 */
export async function runLive({ items, limit, seconds, readiness }: LiveCase): Promise<LiveResult> {
	const sandbox = await startSandbox({ seed: 1, generationSeconds: seconds });
	try {
		const { key, account } = sandbox.service.accounts.keyOf('hero');
		account.concurrency = limit;
		const task: LiveTask = {
			baseUrl: sandbox.url,
			apiKey: key,
			items,
			workflow: batchWorkflow({ ...(limit !== 10 && { maxConcurrent: limit }), readiness }),
		};
		const report = await askWorker<LiveReport>('live-worker.ts', task);
		const ideal = idealMakespan(new Array<number>(items).fill(seconds), limit);
		return {
			...report,
			ratio: report.makespanSeconds / ideal,
			cpuShare: report.cpuSeconds / report.makespanSeconds,
		};
	} finally {
		await sandbox.close();
	}
}

function batchWorkflow(runOptions: {
	maxConcurrent?: number;
	readiness?: Readiness;
}): WorkflowJson {
	return inARow({
		name: 'Video',
		type: 'n8n-nodes-media-generation.videoGeneration',
		parameters: {
			model: { __rl: true, mode: 'id', value: 'inkwell-animate' },
			prompt: '={{ $json.prompt }}',
			downloadOutput: false,
			runOptions: runOptions as NodeParameterValueType,
		},
	});
}
