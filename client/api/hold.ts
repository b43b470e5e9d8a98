import type { GenerationError } from './errors';
import type { Clock } from '../ports';

/** Holds back requests of one kind until the time that a server has asked for (`Retry-After`). */
export class Hold {
	/** The last error that asked to wait. */
	cause: GenerationError | null = null;

	/** @param until end of a hold passed on by an earlier run of the step, in milliseconds since the Unix epoch; 0 if none */
	constructor(
		private readonly clock: Clock,
		public until = 0,
	) {}

	/** Milliseconds until the hold ends; 0 if there is none. */
	get leftMs(): number {
		return Math.max(0, this.until - this.clock.now());
	}

	/** If an error asks to wait (`retryAfterMs`), extends the hold to the end of that wait. */
	note(error: GenerationError): void {
		if (error.retryAfterMs === null) return;
		this.cause = error;
		this.until = Math.max(this.until, this.clock.now() + error.retryAfterMs);
	}
}
