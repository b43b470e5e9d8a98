import { attempt } from '../async';
import type { Clock, Random } from '../ports';
import { errorOfJob, notSent } from '../outcome';
import { backoffDelay } from '../api/retry';
import { CancelledError, GenerationError } from '../api/errors';
import type { Generation } from '../api/generation';
import type { CreateRequest, ServiceClient } from '../api/client';
import { isMade, isOpen } from './book';
import { MAX_RESUBMISSIONS, nextMove, type Tried } from './next-move';
import type { Order, OrderBook } from './order-book';
import { isSpendLimit, type SpendGuard } from '../spend-guard';
import { SlotGate } from './slot-gate';
import type { Slots, Turn } from './slots';
import { uncertainCharge } from './uncertain-charge';

export interface SubmissionPorts {
	service: ServiceClient;
	book: OrderBook;
	clock: Clock;
	random: Random;
	/** Aborts when the step ends. No creating request is sent afterwards. */
	halt: AbortSignal;
	/** What the step may spend. Not set: no limit. */
	guard?: SpendGuard;
	/** The slots of the account, possibly shared with other steps. */
	slots: Slots;
}

/** Counters for the step's summary. */
export interface SubmissionStats {
	/** Generations created. */
	made: number;
	/** Existing generations that were reused. */
	takenUp: number;
	/** Creating requests that were retried after a transient error. */
	retries: number;
	/**
	 * Requests with a lost response that were followed by another request. Each of them may have been charged as
	 * well.
	 */
	resubmitted: number;
}

/**
 * The only code that spends money. It creates a generation for an order when a slot may be free. It never creates a
 * second one for an order that may already have one, unless the user chose to resubmit.
 */
export class Submission {
	readonly stats: SubmissionStats = { made: 0, takenUp: 0, retries: 0, resubmitted: 0 };
	readonly gate: SlotGate;
	/** Number of lost responses in this attempt of the step, by order. Items with the same key share one count. */
	private readonly lost = new Map<string, number>();

	constructor(private readonly ports: SubmissionPorts) {
		this.gate = new SlotGate({ ...ports, signal: ports.halt });
	}

	/**
	 * Looks up the generation that an earlier attempt created for an order.
	 *
	 * @returns the generation id, or `null` if the order may be sent
	 * @throws GenerationError `uncertain_charge` if an earlier request may have been charged and may not be sent
	 * again
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
	 * Sends an order until it has a generation or `nextMove` gives up.
	 *
	 * @returns the generation; `null` if another item or execution is sending the order, so that the book will have
	 * the result
	 * @throws GenerationError if the order is given up; CancelledError if the step ends before the request is sent
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
				// A full account is no failure, and the wait may be long. Later failures start a new count.
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

	/**
	 * Sends one creating request when a slot may be free. Stores the intent before the request, and the id right
	 * after it.
	 */
	private async sendInTurn(
		order: Order,
		request: CreateRequest,
		arrival: number,
	): Promise<Generation | null> {
		const { job } = order;
		const { book, guard, halt, service, slots } = this.ports;
		const turn = await this.gate.enter(job.timeoutMs, arrival);
		let intended = false;
		let admitted = false;
		const sent = await attempt(async () => {
			await guard?.admit(halt);
			admitted = true;
			const name = await book.intend(order);
			intended = name !== null;
			// Storing the intent takes time. Check again that the request may still be sent.
			this.gate.requireOpen();
			return name === null ? null : await service.create(request, name);
		});
		if (admitted) guard?.report(sent.ok ? sent.value !== null : !isFree(sent.error));
		if (!sent.ok) {
			await this.settleRefusal(turn, order, sent.error, intended);
			throw sent.error;
		}
		if (sent.value === null) slots.unused(turn);
		else await this.settle(turn, order, sent.value);
		return sent.value;
	}

	/** Returns the turn. Withdraws the intent only if the request was certainly not charged. */
	private async settleRefusal(turn: Turn, order: Order, error: unknown, intended: boolean) {
		const { slots } = this.ports;
		const refusal = error instanceof GenerationError ? error : null;
		if (refusal?.fatalForStep) this.gate.close(notSent(refusal, order.job.itemIndex));
		if (refusal && isSpendLimit(refusal)) this.gate.close(refusal);
		if (refusal?.retry === 'slot') slots.refused(turn, refusal);
		else slots.unused(turn);
		if (intended && isFree(error)) await this.ports.book.withdraw(order);
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

	/**
	 * Returns the error of an order that is given up. An open order may have been charged, even if its last request
	 * was rejected.
	 */
	private async inTheEnd(order: Order, cause: GenerationError | null, error: unknown) {
		const { book } = this.ports;
		await book.leave(order);
		const entry = book.known(order);
		return isOpen(entry) ? uncertainCharge(cause, entry, order.job.onUncertainCharge) : error;
	}
}

/** True if a request with this error was certainly not charged. */
function isFree(error: unknown): boolean {
	if (error instanceof GenerationError) return error.charge !== 'unknown';
	return error instanceof CancelledError;
}
