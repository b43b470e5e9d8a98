import type { GenerationError } from '../api/errors';
import type { ProbeUrl } from '../ports';
import { Prober } from './prober';
import { StatusRequests, type StatusChecks, type StatusPorts } from './status-requests';

/** What the watches of one step share. */
export class Watcher {
	/** Errors after which a status check was retried, for the step's summary. */
	readonly transientErrors = new Set<GenerationError>();
	readonly requests: StatusRequests;
	readonly prober: Prober;

	constructor(
		readonly ports: StatusPorts & { probe: ProbeUrl },
		readonly intervalMs: number,
		checks?: StatusChecks,
	) {
		this.requests = new StatusRequests(ports, intervalMs, checks);
		this.prober = new Prober(ports, intervalMs);
	}
}
