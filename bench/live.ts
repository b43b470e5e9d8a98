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
	/** What each generation takes. */
	seconds: number;
	readiness?: Readiness;
}

/** What the worker is asked for, as JSON. */
export interface LiveTask {
	baseUrl: string;
	apiKey: string;
	items: number;
	workflow: WorkflowJson;
}

/** What it found, as JSON. */
export interface LiveReport {
	makespanSeconds: number;
	/** Seconds of processor time of n8n's engine and the node. */
	cpuSeconds: number;
}

export interface LiveResult extends LiveReport {
	/** Makespan over ideal. */
	ratio: number;
	/** Of one core, while the batch ran. */
	cpuShare: number;
}

/**
 * One batch through the built node, in n8n's engine and over real HTTP, with the settings that the node comes with. The
 * engine runs in a process of its own, so that its processor time is not mixed with the service's.
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
