import { withTimeout } from '../async';
import type { Clock, Probed, ProbeUrl } from '../ports';

/** The result of a probe of the output URL (spec 4.3). `unusable`: this storage cannot be probed. */
type ProbeResult = 'ready' | 'missing' | 'unusable';

/**
 * Interprets the response to a request for the first byte. Only that byte proves that the file exists, and only 403
 * and 404 that it does not exist yet. After any other response, such as a page, the storage cannot be probed.
 */
export function interpretProbe({ status, oneByte }: Probed): ProbeResult {
	if (status === 403 || status === 404) return 'missing';
	return (status === 200 || status === 206) && oneByte ? 'ready' : 'unusable';
}

/** For a whole step. */
const PROBES_PER_SECOND = 25;
const MAX_QUEUE_MS = 1_000;

export interface ProbePorts {
	probe: ProbeUrl;
	clock: Clock;
	/** Nothing is probed afterwards. */
	halt: AbortSignal;
}

/** Probes output URLs for one step. Limits the rate, and remembers whether the storage is reliable. */
export class OutputProbe {
	/** False once the storage proved unreliable: a cached 404, or a file long before its generation is final. */
	usable = true;
	private nextAt = 0;

	constructor(private readonly ports: ProbePorts) {}

	/** Reserves a time. Returns the milliseconds until the probe may be sent; `null` if too many are waiting. */
	reserve(): number | null {
		const now = this.ports.clock.now();
		const at = Math.max(now, this.nextAt);
		if (at - now > MAX_QUEUE_MS) return null;
		this.nextAt = at + 1000 / PROBES_PER_SECOND;
		return at - now;
	}

	/** Requests the first byte of an output. A response that takes longer than `ms` counts as `unusable`. */
	async send(url: string, ms: number): Promise<ProbeResult> {
		const { clock, probe, halt } = this.ports;
		if (halt.aborted) return 'unusable';
		const probing = withTimeout(clock, ms, halt, async (signal) => await probe(url, signal));
		const probed = await probing.catch(() => null);
		return probed === null ? 'unusable' : interpretProbe(probed);
	}
}
