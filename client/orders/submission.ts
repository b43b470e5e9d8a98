import { toResult } from '../async';
import { errorOfJob, heldTooLong, notSent, sentTooLate } from '../jobs/outcome';
import { backoffDelay, decideRetry, MAX_RETRIES } from '../api/retry';
import { CancelledError, GenerationError } from '../api/errors';
import type { Generation } from '../api/generation';
import type { CreateRequest } from '../api/client';
import { Hold } from '../api/hold';
import type { SpendGuard } from './spend-guard';
import type { Claim, Journal } from './journal';
import type { Order } from './order';
import { isAboutModel, requestOf } from '../jobs/job';
import type { StepPorts } from '../jobs/step-ports';
import { StepGate, type Permit, type SlotPool } from './slot-pool';
import { uncertainCharge } from './order-errors';

/** With `resubmit`, an order is sent again after at most this many lost responses, in one attempt of the step. */
const MAX_RESUBMISSIONS = 3;
/** The first pauses between reads of a key's row while another execution sends the request. Each read runs a workflow. */
const KEY_PAUSES_MS = [1_000, 2_000, 3_000];
/** Each pause after `KEY_PAUSES_MS`, in a run that may rest (see `Rest`). */
const RESTING_KEY_PAUSE_MS = 60_000;

/** An order that is being sent. */
interface Sending {
	order: Order;
	/** `null` until it is needed, because its files may be large. */
	request: CreateRequest | null;
	/** Its place in the queue for slots. */
	ticket: number;
	/** When errors began to prevent the request, moved later by waits for a slot since then; `null` if there was no error. */
	troubledSince: number | null;
	/** The claim of the request that is in flight, or about to be sent. */
	claim: Claim | null;
	/** True from `SpendGuard.admit` to `settle`: the order has a place within the spending limit. */
	isAdmitted: boolean;
	lastError: GenerationError | null;
}

/**
 * The only code that spends money: it sends creating requests when a slot may be free. An order that may already have a
 * generation is never sent again, unless the user chose to resubmit.
 */
export class Submission {
	/** Counters for the step's summary. */
	readonly stats = {
		made: 0,
		reused: 0,
		/** Requests that were repeated after transient errors. */
		retries: 0,
		/** Requests whose response was lost, and after which the order was sent again. Each may be an additional charge. */
		resubmitted: 0,
		/** Generations created to replace ones that failed in this step. */
		recreated: 0,
		/** Outputs that a fallback model created. */
		fellBack: 0,
	};
	/** Indexes of items that reuse the generation of their idempotency key although their request has changed. */
	readonly changed = new Set<number>();
	readonly gate: StepGate;
	/** Until when the service has asked the step to create nothing. */
	readonly hold: Hold;
	/** Number of lost responses in this attempt of the step, by `Order.lock`: items with the same key share one count. */
	private readonly lost = new Map<string, number>();

	constructor(
		/** `guard` is missing if the step has no spending limit and reads no balance. */
		private readonly ports: StepPorts & { journal: Journal; guard?: SpendGuard; slots: SlotPool },
	) {
		this.gate = new StepGate(ports.halt);
		this.hold = new Hold(ports.clock, ports.memory?.heldUntil);
	}

	/**
	 * Returns the id of the generation that already exists for an order; `null` if the order may be sent.
	 *
	 * @throws GenerationError `uncertain_charge` if an earlier request may have been charged and may not be sent again
	 */
	async earlier(order: Order): Promise<string | null> {
		const { journal, halt, rest } = this.ports;
		// Called while another execution sends the request of the same key. Pauses before the key is read again.
		const wait = async (reads: number) => {
			const ms = KEY_PAUSES_MS[reads - 1] ?? (rest ? RESTING_KEY_PAUSE_MS : 5_000);
			await this.pause(order, ms, halt);
			if (halt.aborted) throw new CancelledError();
		};
		const entry = await journal.read(order, halt, wait);
		if (entry.state === 'made') {
			if (entry.changed) this.changed.add(order.job.itemIndex);
			return entry.id;
		}
		if (entry.state === 'sent' && !this.mayResend(order)) {
			throw uncertainCharge(null, entry, order.job.onUncertainCharge);
		}
		return null;
	}

	/**
	 * Sends an order until it has a generation or `decideRetry` gives up.
	 *
	 * @returns `null` if nothing was sent, for example because another execution was first: the caller calls `earlier` again
	 * @throws GenerationError if the order is given up; CancelledError if the step ends before the request is sent
	 */
	async createWithRetries(order: Order): Promise<Generation | null> {
		const { clock, random, halt, rest, slots, debug } = this.ports;
		const sending: Sending = {
			order,
			request: null,
			ticket: slots.ticket(),
			troubledSince: null,
			claim: null,
			isAdmitted: false,
			lastError: null,
		};
		for (let retries = 0; ; ) {
			const sent = await toResult(async () => await this.send(sending));
			if (sent.ok && sent.value) rest?.served();
			if (sent.ok) return sent.value;
			if (sent.error instanceof CancelledError) throw this.finalError(sending, sent.error);
			const cause = (sending.lastError = errorOfJob(sent.error, null));
			if (cause.charge === 'unknown') this.lost.set(order.lock, this.lostOf(order) + 1);
			const isServed = cause.retry === 'slot' || isAboutModel(cause);
			if (isServed) rest?.served();
			else if (cause.retry === 'backoff') rest?.failed();
			const since = (sending.troubledSince ??= clock.now());
			const leftMs = this.giveUpAt(sending) - clock.now();
			// In an outage the service answers no item of the step, so only the timeout ends the retries.
			const isOutage = rest && !isServed && rest.servedAt <= since;
			const isAskedFor = cause.retryAfterMs !== null;
			const isPatient = isOutage || isAskedFor || cause.code === 'connection_failed';
			const decision = decideRetry(cause, {
				retries,
				maxRetries: isPatient ? Infinity : MAX_RETRIES,
				inTime: leftMs > 0,
				mayResend: this.mayResend(order),
			});
			if (decision === 'stop') throw this.finalError(sending, sent.error);
			debug?.(
				`the creating request of item ${order.job.itemIndex} is repeated (${decision}: ${cause.code})`,
			);
			if (decision === 'slot') {
				// A full account is not a failure, and the wait for a slot may be long: count later failures anew.
				retries = 0;
				continue;
			}
			if (decision === 'backoff') this.stats.retries++;
			// A pause that the service has asked for does not count as a failed retry.
			if (decision === 'backoff' && !isAskedFor) retries++;
			const tries = decision === 'backoff' ? Math.max(0, retries - 1) : this.lostOf(order) - 1;
			const mayRest = rest && !isServed && cause.charge === 'none' && !isAskedFor;
			const pauseMs = mayRest ? rest.backoff(tries) : backoffDelay(tries, random);
			await this.pause(order, Math.min(pauseMs, leftMs), halt);
		}
	}

	/** Sends one request when a slot may be free. Claims the order first, and stores the id right after the response. */
	private async send(sending: Sending): Promise<Generation | null> {
		const { gate, hold } = this;
		const { order } = sending;
		const { clock, guard, journal, service } = this.ports;
		gate.requireOpen();
		if (guard && !sending.isAdmitted) {
			await this.resting(order, () => Infinity, guard.admit(gate));
			sending.isAdmitted = true;
		}
		// Read files after `admit`, to skip items beyond the limit, and before `acquire`, so that no slot sits idle.
		const request = (sending.request ??= await requestOf(order.job));
		const permit = await this.acquire(sending);
		let hasLeft = false;
		const sent = await toResult(async () => {
			sending.claim = await journal.claim(order);
			// Storing the claim takes time, so check again that the request may still be sent.
			gate.requireOpen();
			const isLate = clock.now() >= this.sendBy(order);
			if (isLate) throw sentTooLate(order.job.timeoutMs, sending.lastError);
			if (sending.claim === null || hold.leftMs > 0) return null;
			hasLeft = true;
			return await service.create(request, sending.claim.header);
		});
		const mayBeCharged = sent.ok ? sent.value !== null : !isUncharged(sent.error);
		guard?.end(mayBeCharged);
		if (sent.ok || mayBeCharged) this.endAdmission(sending, mayBeCharged);
		if (sent.ok && sent.value) {
			this.stats.made++;
			const known = journal.known(order);
			if (known.state === 'sent') this.stats.resubmitted += known.count - 1;
			sending.claim?.made(sent.value);
		} else if (mayBeCharged) sending.claim?.lost();
		else sending.claim?.free();
		sending.claim = null;
		if (sent.ok) {
			permit(sent.value ? 'granted' : 'unused');
			return sent.value;
		}
		const { error } = sent;
		const refusal = error instanceof GenerationError ? error : null;
		// The `Retry-After` of a full account holds back only items that wait for a slot: `SlotPool` handles it.
		if (refusal && refusal.retry !== 'slot') hold.note(refusal);
		if (refusal?.fatalForStep) gate.close(notSent(refusal, order.job));
		permit(refusal?.retry === 'slot' ? refusal : hasLeft ? 'failed' : 'unused');
		throw error;
	}

	/** Tells `guard`, one time only, that an item will not be sent again. */
	private endAdmission(sending: Sending, mayBeCharged: boolean): void {
		if (sending.isAdmitted) this.ports.guard?.settle(mayBeCharged);
		sending.isAdmitted = false;
	}

	/** Waits until the item may send a request. Acquires the slot last, so that no item holds a slot while it waits. */
	private async acquire(sending: Sending): Promise<Permit> {
		const { gate, hold } = this;
		const { order, ticket } = sending;
		const { clock, guard, random, rest, slots } = this.ports;
		const { timeoutMs } = order.job;
		for (;;) {
			while (hold.leftMs > 0) {
				sending.troubledSince ??= clock.now();
				if (hold.cause && hold.until > this.giveUpAt(sending)) {
					throw heldTooLong(hold.cause, hold.leftMs, timeoutMs);
				}
				// The random part spreads the requests of items that were held back together.
				await this.pause(order, hold.leftMs + 1_000 * random(), gate.closed);
				gate.requireOpen();
			}
			await guard?.ready(gate);
			const waitsSince = clock.now();
			// In a run that may rest, no item gives up because the account is full.
			const mostMs = rest ? Infinity : timeoutMs;
			const acquired = slots.acquire(gate, mostMs, ticket, this.sendBy(order));
			const permit = await this.resting(order, () => rest?.slotAt() ?? Infinity, acquired);
			// The wait for a slot has its own timeout, so it does not shorten the time for retries.
			if (sending.troubledSince !== null) sending.troubledSince += clock.now() - waitsSince;
			const isLate = clock.now() >= this.sendBy(order);
			if (hold.leftMs === 0 && !isLate && (!guard || guard.begin())) return permit;
			permit('unused');
			if (isLate) throw sentTooLate(timeoutMs, sending.lastError);
		}
	}

	private async pause(order: Order, ms: number, signal: AbortSignal): Promise<void> {
		const { clock } = this.ports;
		const until = clock.now() + ms;
		await this.resting(order, () => until, clock.sleep(ms, signal));
	}

	/** Awaits a promise. The run may rest meanwhile, unless an earlier request of the order may have been charged. */
	private async resting<T>(order: Order, until: () => number, awaited: Promise<T>): Promise<T> {
		const { journal, rest } = this.ports;
		const mayRest = journal.known(order).state !== 'sent';
		const over = mayRest ? rest?.begin(until) : undefined;
		return await awaited.finally(over);
	}

	/** The latest time at which an order may be sent, in milliseconds since the Unix epoch. */
	private sendBy({ job: { countsFromStart, timeoutMs } }: Order): number {
		return countsFromStart ? this.ports.startedAt + timeoutMs : Infinity;
	}

	/** When retries of an order end: its timeout after errors began (`Rest.downSince`, or else `troubledSince`). */
	private giveUpAt({ order, troubledSince }: Sending): number {
		const since = this.ports.rest?.downSince ?? troubledSince ?? Infinity;
		return Math.min(since + order.job.timeoutMs, this.sendBy(order));
	}

	private lostOf({ lock }: Order): number {
		return this.lost.get(lock) ?? 0;
	}

	/** True if the order may be sent although an earlier request may have been charged. */
	private mayResend(order: Order): boolean {
		const isAllowed = order.job.onUncertainCharge === 'resubmit' && !this.ports.creationBan;
		return isAllowed && this.lostOf(order) <= MAX_RESUBMISSIONS;
	}

	/** Returns the error of an order that is given up: `uncertain_charge` if any of its requests may have been charged. */
	private finalError(sending: Sending, error: unknown): unknown {
		const { order, lastError } = sending;
		this.endAdmission(sending, false);
		const entry = this.ports.journal.known(order);
		if (entry.state !== 'sent') return error;
		return uncertainCharge(lastError, entry, order.job.onUncertainCharge);
	}
}

/** True if a request with this error was certainly not charged. */
function isUncharged(error: unknown): boolean {
	if (error instanceof GenerationError) return error.charge !== 'unknown';
	return error instanceof CancelledError;
}
