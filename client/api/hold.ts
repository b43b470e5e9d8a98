import type { GenerationError } from './errors';
import type { Clock } from '../ports';

/** The time before which no request of one kind may be sent, because the other side has named it (`Retry-After`). */
export class Hold {
	/** In milliseconds since the Unix epoch. */
	until = 0;
	/** The last error that named a time. */
	cause: GenerationError | null = null;

	constructor(private readonly clock: Clock) {}

	/** Milliseconds that are left. */
	get leftMs(): number {
		return Math.max(0, this.until - this.clock.now());
	}

	/** Extends the hold to the time that an error names, if it names one. */
	note(error: GenerationError): void {
		if (error.retryAfterMs === null) return;
		this.cause = error;
		this.until = Math.max(this.until, this.clock.now() + error.retryAfterMs);
	}
}
