import { performance } from 'node:perf_hooks';

import { startSandbox } from '../sandbox/server';
import { logNormal } from '../sandbox/generations/timing';
import { createEngine } from '../tools/engine';
import { inARow } from '../tools/engine/in-a-row';
import type { WorkflowJson } from '../tools/engine/run';
import { idealMakespan, type BatchCase } from './batch';

/** How many times faster than life the sandbox and the polling run. A node polls every second at most. */
export const TIME_SCALE = 3;

/** A model that takes 30 s on average, by the catalogue. */
const MODEL = 'inkwell-animate';

export interface ScaledResult {
	name: string;
	makespanSeconds: number;
	idealSeconds: number;
	ratio: number;
}

/**
 * One batch through the built node, in n8n's engine and over real HTTP, with everything scaled. What requests and the
 * engine themselves take is not scaled, so the ratio is larger than in virtual time.
 */
export async function runScaled(batch: BatchCase): Promise<ScaledResult> {
	const draw = batch.sigma === 0 ? batch.seconds : logNormal(batch.seconds, batch.sigma);
	const sandbox = await startSandbox({
		timeScale: TIME_SCALE,
		seed: batch.seed,
		generationSeconds: draw,
	});
	const engine = await createEngine({ nodes: 'dist', binaryMode: 'filesystem' });
	try {
		const { key, account } = sandbox.service.accounts.keyOf('main');
		account.concurrency = batch.limit;
		const started = performance.now();
		const run = await engine.run(batchWorkflow(batch.limit), {
			credentials: { mediaGenerationApi: { baseUrl: sandbox.url, apiKey: key } },
			input: Array.from({ length: batch.items }, (_, index) => ({
				json: { prompt: `Wave ${index}` },
			})),
		});
		const makespanSeconds = (performance.now() - started) / 1000;
		if (run.status !== 'success') throw run.error ?? new Error(run.status);
		const durations = sandbox.books.generations.map(
			({ created, finishes }) => (finishes - created) / 1000,
		);
		const idealSeconds = idealMakespan(durations, batch.limit);
		return {
			name: batch.name,
			makespanSeconds,
			idealSeconds,
			ratio: makespanSeconds / idealSeconds,
		};
	} finally {
		await engine.close();
		await sandbox.close();
	}
}

function batchWorkflow(maxConcurrent: number): WorkflowJson {
	return inARow({
		name: 'Video',
		type: 'n8n-nodes-media-generation.videoGeneration',
		parameters: {
			model: { __rl: true, mode: 'id', value: MODEL },
			prompt: '={{ $json.prompt }}',
			resolution: '480p',
			duration: 1,
			downloadOutput: false,
			options: { maxConcurrent, pollInterval: 3 / TIME_SCALE },
		},
	});
}
