import type { GenerationError } from './errors';
import type { Clock } from '../ports';

/** Holds back requests of one kind until the time that a server has asked for (`Retry-After`). */
export class Hold {
	private endsAt = 0;
	/** The longest time that was asked for. */
	private longestMs = 0;
	/** The last error that named a time. */
	cause: GenerationError | null = null;

	constructor(private readonly clock: Clock) {}

	/** Milliseconds that are left. A clock that was set back does not extend them. */
	get leftMs(): number {
		const now = this.clock.now();
		this.endsAt = Math.min(this.endsAt, now + this.longestMs);
		return Math.max(0, this.endsAt - now);
	}

	/** The end, in milliseconds since the Unix epoch. */
	get until(): number {
		return this.clock.now() + this.leftMs;
	}

	/** Extends the hold to the time that an error names, if it names one. */
	note(error: GenerationError): void {
		if (error.retryAfterMs === null) return;
		this.cause = error;
		this.endsAt = Math.max(this.until, this.clock.now() + error.retryAfterMs);
		this.longestMs = Math.max(this.longestMs, error.retryAfterMs);
	}
}
