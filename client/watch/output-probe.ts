import { withTimeout } from '../async';
import type { Clock, ProbeUrl } from '../ports';

/** For a whole step. */
const PROBES_PER_SECOND = 25;
const MAX_QUEUE_MS = 1_000;

/** Probes output URLs for one step. Limits the rate, and remembers whether the storage is reliable. */
export class OutputProbe {
	/** False once the storage proved unreliable: a cached 404, or a file long before its generation is final. */
	usable = true;
	private nextAt = 0;

	constructor(private readonly ports: { probe: ProbeUrl; clock: Clock; halt: AbortSignal }) {}

	/** Reserves a time. Returns the milliseconds until the probe may be sent; `null` if too many are waiting. */
	reserve(): number | null {
		const now = this.ports.clock.now();
		const at = Math.max(now, this.nextAt);
		if (at - now > MAX_QUEUE_MS) return null;
		this.nextAt = at + 1000 / PROBES_PER_SECOND;
		return at - now;
	}

	/**
	 * Requests the first byte of an output (spec 4.3). Only that byte proves that the file exists, and only 403 and 404
	 * that it does not exist yet. After any other response, such as a page, or none within `ms`, this proves nothing.
	 */
	async send(url: string, ms: number): Promise<'ready' | 'missing' | 'unusable'> {
		const { clock, probe, halt } = this.ports;
		if (halt.aborted) return 'unusable';
		const probing = withTimeout(clock, ms, halt, async (signal) => await probe(url, signal));
		const { status, oneByte } = (await probing.catch(() => null)) ?? {};
		if (status === 403 || status === 404) return 'missing';
		return (status === 200 || status === 206) && oneByte ? 'ready' : 'unusable';
	}
}
