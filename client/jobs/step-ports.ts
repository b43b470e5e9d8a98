import type { ServiceClient } from '../api/client';
import type { GenerationError } from '../api/errors';
import type { Clock, Debug, Random } from '../ports';
import type { Memory } from './memory';
import type { Rest } from './rest';

/** What all parts of a step share. */
export interface StepPorts {
	service: ServiceClient;
	clock: Clock;
	random: Random;
	/** Aborts when the step is stopped, rests, or ends early because of an error. Afterwards, nothing is sent. */
	halt: AbortSignal;
	/** When this attempt of the step began. After a sleep, when the current run began: see `Memory.since` for the attempt. */
	startedAt: number;
	/** What the previous run passed on, if the step sleeps between several runs of the same jobs. */
	memory?: Memory;
	/** Set if the run may rest: end early while nothing is due soon. */
	rest?: Rest;
	/** Set if this run may only fetch: each item without a generation gets this error. */
	creationBan?: GenerationError;
	debug?: Debug;
}
