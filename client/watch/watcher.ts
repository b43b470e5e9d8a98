import type { GenerationError } from '../api/errors';
import type { ProbeUrl } from '../ports';
import type { Rest } from '../jobs/rest';
import { Prober } from './prober';
import { StatusRequests, type StatusPorts } from './status-requests';

/** What the watches of one step share. */
export class Watcher {
	/** Errors after which a status check was retried, for the step's summary. */
	readonly transientErrors = new Set<GenerationError>();
	readonly requests: StatusRequests;
	readonly prober: Prober;

	constructor(
		/** `rest`: set if the run may rest. */
		readonly ports: StatusPorts & { probe: ProbeUrl; rest?: Rest },
		readonly intervalMs: number,
	) {
		this.requests = new StatusRequests(ports, intervalMs);
		this.prober = new Prober(ports, intervalMs);
	}
}
