import { attempt } from '../basics/attempt';
import type { Clock, Random } from '../basics/ports';
import { errorOfJob, notSent } from '../jobs/outcome';
import { backoffDelay } from '../wire/backoff';
import { CancelledError, GenerationError } from '../wire/errors';
import type { Generation } from '../wire/generation';
import type { CreateRequest, GenerationService } from '../wire/service';
import { isMade, isOpen } from './book';
import { MAX_RESUBMISSIONS, nextMove, type Tried } from './next-move';
import type { Order, OrderBook } from './order-book';
import { SlotGate } from './slot-gate';
import type { Slots, Turn } from './slots';
import { uncertainCharge } from './uncertain-charge';

export interface SubmissionPorts {
	service: GenerationService;
	book: OrderBook;
	clock: Clock;
	random: Random;
	/** Ends the step: nothing more is submitted. */
	halt: AbortSignal;
	/** Of the account. */
	slots: Slots;
}

/** What submitting came to, for the step's summary. */
export interface SubmissionStats {
	/** Generations created. */
	made: number;
	/** Generations of an earlier try taken up. */
	takenUp: number;
	/** Creating requests sent again after an error that passed. */
	retries: number;
	/** Requests whose answers were lost and that were followed by another: each may have been charged besides. */
	resubmitted: number;
}

/**
 * The only place that spends money. Takes an order to a new generation when there is a slot for it. Never creates a
 * second one for an order that may have one already.
 */
export class Submission {
	readonly stats: SubmissionStats = { made: 0, takenUp: 0, retries: 0, resubmitted: 0 };
	readonly gate: SlotGate;
	/** How many answers were lost in this try of the step: of an order, whichever items have it. */
	private readonly lost = new Map<string, number>();

	constructor(private readonly ports: SubmissionPorts) {
		this.gate = new SlotGate({ ...ports, signal: ports.halt });
	}

	/**
	 * The generation that an earlier try has made, as the book knows it.
	 *
	 * @returns its id, or `null` where the order may be sent
	 * @throws GenerationError where an earlier request may have been charged, and the user does not take the risk
	 */
	async earlier(order: Order): Promise<string | null> {
		const entry = await this.ports.book.find(order);
		if (isMade(entry)) return entry.id;
		const { onUncertainCharge: choice } = order.job;
		if (isOpen(entry) && (choice === 'error' || this.lostOf(order) > MAX_RESUBMISSIONS)) {
			throw uncertainCharge(null, entry, choice);
		}
		return null;
	}

	/**
	 * Sends an order until it has come to its generation, as `nextMove` allows.
	 *
	 * @returns `null` where somebody else is sending it: the book will know what comes of it
	 * @throws GenerationError, or CancelledError when the step ends before the request was sent
	 */
	async create(order: Order, request: CreateRequest): Promise<Generation | null> {
		const { clock, random, halt } = this.ports;
		const arrival = this.gate.arrive();
		const tried: Tried = { retries: 0, sinceMs: 0, resubmissions: 0 };
		let failingSince: number | null = null;
		let cause: GenerationError | null = null;
		for (;;) {
			const sent = await attempt(async () => await this.sendInTurn(order, request, arrival));
			if (sent.ok) return sent.value;
			const error = sent.error instanceof CancelledError ? null : errorOfJob(sent.error, null);
			cause = error ?? cause;
			if (error !== null && error.retry !== 'slot') failingSince ??= clock.now();
			tried.sinceMs = clock.now() - (failingSince ?? clock.now());
			if (error?.charge === 'unknown') tried.resubmissions = this.lostAgain(order) - 1;
			const move = error === null ? 'give up' : nextMove(error, tried, order.job);
			if (move === 'give up') throw await this.inTheEnd(order, cause, sent.error);
			if (move === 'wait for a slot') {
				// The service is well, and the line may be long: what fails after it fails for the first time.
				failingSince = null;
				tried.retries = 0;
				continue;
			}
			if (move === 'back off') this.stats.retries++;
			const pauses = move === 'back off' ? tried.retries++ : tried.resubmissions;
			const left = order.job.timeoutMs - tried.sinceMs;
			await clock.sleep(Math.min(backoffDelay(pauses, random), left), halt);
		}
	}

	/** One creating request, as soon as there may be a slot for it: the intent before it, the id straight after. */
	private async sendInTurn(
		order: Order,
		request: CreateRequest,
		arrival: number,
	): Promise<Generation | null> {
		const { job } = order;
		const { book, service, slots } = this.ports;
		const turn = await this.gate.enter(job.timeoutMs, arrival);
		let intended = false;
		const sent = await attempt(async () => {
			const name = await book.intend(order);
			intended = name !== null;
			// Writing that down may have taken a while.
			this.gate.requireOpen();
			return name === null ? null : await service.create(request, name);
		});
		if (!sent.ok) {
			await this.settleRefusal(turn, order, sent.error, intended);
			throw sent.error;
		}
		if (sent.value === null) slots.unused(turn);
		else await this.settle(turn, order, sent.value);
		return sent.value;
	}

	/** Gives the turn back, and the intent where it is certain that nothing was charged. */
	private async settleRefusal(turn: Turn, order: Order, error: unknown, intended: boolean) {
		const { slots } = this.ports;
		const refusal = error instanceof GenerationError ? error : null;
		if (refusal?.stopsSubmitting) this.gate.close(notSent(refusal, order.job.itemIndex));
		if (refusal?.retry === 'slot') slots.refused(turn, refusal);
		else slots.unused(turn);
		const notCharged = refusal ? refusal.charge !== 'unknown' : error instanceof CancelledError;
		if (intended && notCharged) await this.ports.book.withdraw(order);
	}

	private async settle(turn: Turn, order: Order, generation: Generation): Promise<void> {
		const { book } = this.ports;
		this.gate.gained(turn);
		this.stats.made++;
		const { sent = 1 } = book.known(order) ?? {};
		this.stats.resubmitted += sent - 1;
		book.record(order, generation);
	}

	private lostOf({ key, recordKey }: Order): number {
		return this.lost.get(recordKey ?? key) ?? 0;
	}

	private lostAgain(order: Order): number {
		const lost = this.lostOf(order) + 1;
		this.lost.set(order.recordKey ?? order.key, lost);
		return lost;
	}

	/** The error of an order that is given up: what is open may have been charged, whatever became of the last request. */
	private async inTheEnd(order: Order, cause: GenerationError | null, error: unknown) {
		const { book } = this.ports;
		await book.leave(order);
		const entry = book.known(order);
		return isOpen(entry) ? uncertainCharge(cause, entry, order.job.onUncertainCharge) : error;
	}
}
