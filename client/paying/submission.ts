import { attempt } from '../basics/attempt';
import { backoffDelay } from '../wire/backoff';
import { CancelledError, GenerationError } from '../wire/errors';
import { isFailed, type Generation } from '../wire/generation';
import type { Job } from '../jobs/job';
import { inTurn } from './in-turn';
import { uncertainCharge, type Ledger } from './ledger';
import { errorOfJob, notSent } from '../jobs/outcome';
import type { Clock, Random } from '../basics/ports';
import type { CreateRequest, GenerationService } from '../wire/service';
import { SlotGate, type Probing } from './slot-gate';

/** After a lost answer, how often `onUncertainCharge: resubmit` sends a request again within one try of the step. */
const MAX_RESUBMISSIONS = 3;

export interface SubmissionPorts {
	service: GenerationService;
	ledger: Ledger;
	clock: Clock;
	random: Random;
	/** Ends the step: nothing more is submitted. */
	halt: AbortSignal;
	probing?: Probing;
}

export interface Obtained {
	generation: Generation;
	/** True where an earlier try of the step had made it. */
	takenUp: boolean;
}

/** What submitting came to, for the step's summary. */
export interface SubmissionStats {
	/** Generations created. */
	made: number;
	/** Generations of an earlier try taken up. */
	takenUp: number;
}

/**
 * The only place that spends money. Takes a job to a generation: the one that the ledger knows, or a new one, created
 * when there is a slot for it. Never creates a second one for a job that may have one already.
 */
export class Submission {
	readonly stats: SubmissionStats = { made: 0, takenUp: 0 };
	readonly gate: SlotGate;
	/** The refusal that every further request would meet too. */
	private closedBy: { error: GenerationError; itemIndex: number } | null = null;

	constructor(private readonly ports: SubmissionPorts) {
		this.gate = new SlotGate({ ...ports, signal: ports.halt });
	}

	/**
	 * An agent may ask for the same twice at once: the second call comes to what the first has made.
	 *
	 * @param key the ledger key of this job's request
	 * @throws GenerationError, or CancelledError when the step ends before the request was sent
	 */
	async obtain(job: Job, request: CreateRequest, key: string): Promise<Obtained> {
		const { entries } = this.ports.ledger;
		return await inTurn(entries, key, async () => await this.obtainNow(job, request, key));
	}

	private async obtainNow(job: Job, request: CreateRequest, key: string): Promise<Obtained> {
		const entry = this.ports.ledger.find(key);
		if (entry?.id && entry.status !== 'failed') {
			const generation = await this.takeUp(key, entry.id);
			if (generation) return { generation, takenUp: true };
		}
		if (entry && !entry.id && job.onUncertainCharge === 'error') throw uncertainCharge(null);
		return { generation: await this.submit(job, request, key), takenUp: false };
	}

	/** @returns `null` where the generation has failed: it was refunded and may be made anew */
	private async takeUp(key: string, id: string): Promise<Generation | null> {
		const { service, ledger } = this.ports;
		const generation = await service.status(id).catch((error: unknown) => {
			throw error instanceof GenerationError
				? error.with({ generation: { id }, charge: 'paid' })
				: error;
		});
		ledger.record(key, generation);
		if (isFailed(generation)) return null;
		this.stats.takenUp++;
		return generation;
	}

	private async submit(job: Job, request: CreateRequest, key: string): Promise<Generation> {
		const { clock, random, halt, ledger, service } = this.ports;
		// The line for a slot is stood in anew for each try: who waits for something to mend keeps nobody up.
		const inTurn = async (send: () => Promise<Generation>) =>
			await this.gate.pass(async () => await this.createOnce(job, key, send), job.timeoutMs);
		let lost: GenerationError | null = null;
		for (let resubmissions = 0; ; resubmissions++) {
			const tried = await attempt(async () => await service.create(request, halt, inTurn));
			if (tried.ok) return tried.value;
			const { error } = tried;
			// What is open may have been charged, whatever became of the last request.
			if (!ledger.isOpen(key)) throw error;
			if (!(error instanceof CancelledError)) lost = errorOfJob(error, null);
			const again = lost?.charge === 'unknown' && resubmissions < MAX_RESUBMISSIONS;
			if (!again || job.onUncertainCharge === 'error' || halt.aborted) throw uncertainCharge(lost);
			await clock.sleep(backoffDelay(resubmissions, random), halt);
		}
	}

	/** Intent before the request, id straight after; only a certain "not charged" takes the intent back. */
	private async createOnce(
		job: Job,
		key: string,
		send: () => Promise<Generation>,
	): Promise<Generation> {
		const { ledger, halt } = this.ports;
		if (halt.aborted) throw new CancelledError();
		if (this.closedBy) throw notSent(this.closedBy.error, this.closedBy.itemIndex);

		// A request that is open already stays open, whatever becomes of this one.
		const open = ledger.isOpen(key);
		ledger.intend(key);
		const tried = await attempt(send);
		if (tried.ok) {
			ledger.record(key, tried.value);
			this.stats.made++;
			return tried.value;
		}
		const { error } = tried;
		const refusal = error instanceof GenerationError ? error : null;
		const notCharged = refusal !== null && refusal.charge !== 'unknown';
		if (!open && notCharged) ledger.withdraw(key);
		if (refusal?.stopsSubmitting) {
			this.closedBy ??= { error: refusal, itemIndex: job.itemIndex };
		}
		throw error;
	}
}
