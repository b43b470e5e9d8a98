import { inARow } from '../tools/engine/in-a-row';
import type { WorkflowJson } from '../tools/engine/run';

/** What the worker process is to fetch. */
export interface DownloadTask {
	baseUrl: string;
	apiKey: string;
	/** A small generation, fetched first and not measured. */
	warmUpId: string;
	ids: string[];
}

/** What it measured. */
export interface DownloadReport {
	seconds: number;
	/** The most by which the resident memory of the process grew. */
	growthBytes: number;
	/** Bytes found in n8n's storage afterwards. */
	bytes: number;
}

/** Wait for Completion alone, on the incoming ids. */
export function waitWorkflow(): WorkflowJson {
	return inARow({ name: 'Wait', type: 'n8n-nodes-media-generation.waitForCompletion' });
}
