import { startSandbox } from '../sandbox/server';
import { inARow } from '../tools/engine/in-a-row';
import type { WorkflowJson } from '../tools/engine/run';
import { idealMakespan } from './batch';
import type { Stalls } from './watch';
import { askWorker } from './worker';

/** A step with many items, in real time. */
export interface BulkCase {
	items: number;
	limit: number;
	/** Seconds that each generation takes. */
	seconds: number;
}

/** The task of the worker. */
export interface BulkTask {
	baseUrl: string;
	apiKey: string;
	items: number;
	workflow: WorkflowJson;
}

/** The measurements of one step. */
export interface StepFigures extends Stalls {
	seconds: number;
	growthBytes: number;
}

/** The worker's measurements of our step, and of a step with as many items that does nothing. */
export interface BulkReport {
	ours: StepFigures;
	idle: StepFigures;
}

export interface BulkResult extends BulkReport {
	/** Makespan divided by the ideal. */
	ratio: number;
}

/** Runs a step with many items with the built node in n8n's engine, and downloads the images into n8n's storage. */
export async function runBulk({ items, limit, seconds }: BulkCase): Promise<BulkResult> {
	const sandbox = await startSandbox({ seed: 1, generationSeconds: seconds });
	try {
		const { key, account } = sandbox.service.accounts.keyOf('hero');
		account.concurrency = limit;
		const task: BulkTask = { baseUrl: sandbox.url, apiKey: key, items, workflow: pictures(limit) };
		const report = await askWorker<BulkReport>('bulk-worker.ts', task, { flags: ['--expose-gc'] });
		const ideal = idealMakespan(new Array<number>(items).fill(seconds), limit);
		return { ...report, ratio: report.ours.seconds / ideal };
	} finally {
		await sandbox.close();
	}
}

function pictures(maxConcurrent: number): WorkflowJson {
	return inARow({
		name: 'Pictures',
		type: 'n8n-nodes-media-generation.imageGeneration',
		parameters: {
			model: { __rl: true, mode: 'id', value: 'lumen-turbo' },
			prompt: '={{ $json.prompt }}',
			options: { size: '256x256' },
			runOptions: { maxConcurrent },
		},
	});
}
