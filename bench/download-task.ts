import type { ProfileShares } from './profile';

/** How a file is fetched into n8n's storage, from the complete node to the bare minimum. */
export type Way =
	/** The Wait for Completion node. */
	| 'node'
	/** A node that only passes the stream of n8n's HTTP helper to n8n's storage. */
	| 'helper'
	/** A node that reads that stream and stores nothing. */
	| 'reading';

/** A finished generation. */
export interface MadeFile {
	id: string;
	url: string;
}

/** The files that the worker process fetches. */
export interface DownloadTask {
	way: Way;
	baseUrl: string;
	apiKey: string;
	/** A small generation, fetched first and not measured. */
	warmUp: MadeFile;
	files: MadeFile[];
	/** True to profile the run, which slows it down. */
	profiled: boolean;
}

/** The measurements of the worker process. */
export interface DownloadReport {
	seconds: number;
	/** Maximum growth of the resident memory of the process. */
	growthBytes: number;
	/** Number of bytes received. */
	bytes: number;
	/** How the time was spent; `null` if the run was not profiled. */
	shares: ProfileShares | null;
}
