import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { IDataObject } from 'n8n-workflow';

import type { NodeParts } from '../tools/engine/in-a-row';

/** One node with its items. */
export interface EngineTask {
	step: Omit<NodeParts, 'name'>;
	credential: { baseUrl: string; apiKey: string };
	/** Items that run first and are not measured. */
	warmUp: IDataObject[];
	items: IDataObject[];
	/** True to measure memory and pauses. */
	watched?: boolean;
}

/** What the step cost the process of n8n's engine. */
export interface EngineReport {
	seconds: number;
	cpuSeconds: number;
	/** Maximum growth of the resident memory; 0 if it was not watched. */
	growthBytes: number;
	/** The longest time that the event loop was blocked, and the longest block caused by the process itself. */
	longestPauseMs: number;
	ownPauseMs: number;
	/** The output items, and the size of their files. */
	output: IDataObject[];
	bytes: number;
}

/** Runs a built node in n8n's engine, in a separate process: its CPU time and memory are only those of n8n and the node. */
export async function runInEngine(task: EngineTask): Promise<EngineReport> {
	const worker = join(__dirname, 'engine-worker.ts');
	const args = ['--expose-gc', '--import', 'tsx', worker, JSON.stringify(task)];
	const { stdout } = await promisify(execFile)(process.execPath, args, {
		cwd: join(__dirname, '..'),
		maxBuffer: 1024 ** 3,
	});
	return JSON.parse(stdout.trim().split('\n').pop() ?? '') as EngineReport;
}
