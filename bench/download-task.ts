import type { ProfileShares } from './profile';

/** How a file comes into n8n's storage, from the whole way to the least that there is. */
export type Way =
	/** Wait for Completion. */
	| 'node'
	/** A node that hands the stream of n8n's HTTP helper to n8n's storage, and does nothing else. */
	| 'helper'
	/** A node that reads that stream, and keeps nothing. */
	| 'reading';

/** A finished generation. */
export interface MadeFile {
	id: string;
	url: string;
}

/** What the worker process is to fetch. */
export interface DownloadTask {
	way: Way;
	baseUrl: string;
	apiKey: string;
	/** A small generation, fetched first and not measured. */
	warmUp: MadeFile;
	files: MadeFile[];
	/** Whether to look where the time goes, which takes some itself. */
	profiled: boolean;
}

/** What it measured. */
export interface DownloadReport {
	seconds: number;
	/** The most by which the resident memory of the process grew. */
	growthBytes: number;
	/** Bytes that came. */
	bytes: number;
	/** Where the time went, where that was asked for. */
	shares: ProfileShares | null;
}
