import { GenerationError, isForeign } from '../api/errors';
import { isCompleted, isFinal, type Generation } from '../api/generation';
import { backoffDelay, MAX_RETRIES, pause } from '../api/retry';
import { toResult } from '../async';
import type { Readiness } from '../jobs/job';
import type { Probed } from './prober';
import type { Watcher } from './watcher';

/** Ages of a generation at its first status checks while probing works. Only a status check can find a failure. */
const FIRST_CHECKS_MS = [4_000, 10_000];
/** The pause before each later check: this time, or this fraction of the generation's age, whichever is longer. */
const LATER_CHECKS_MS = 10_000;
const LATER_CHECKS_OF_AGE = 1 / 10;
/** Pauses between the status checks that confirm a file found by a probe: the status may lag behind the storage. */
const CONFIRMING_PAUSES_MS = [200, 400, 800];
/** With the readiness `outputUrl`, the number of poll intervals between two status checks. */
const STATUS_EVERY = 5;
/** The pause between probes is this fraction of the generation's age, but not shorter than this minimum. */
const PROBE_PAUSE = { leastMs: 150, ofAge: 1 / 40 };
/** The last status check is sent this long before the deadline, so that its response arrives in time. */
const LAST_CHECK_MS = 1_000;

/**
 * Watches one generation until it ends (spec 4.3). If the URL of its output is known, probes request the first byte of the
 * file, at least once per poll interval. A status check confirms a file that a probe finds. Other status checks are then
 * rare, and find failures. Without a URL, the status is checked once per poll interval.
 */
export class Watch implements Probed {
	since: number;
	seenAt: number;
	/** The earliest time of the next scheduled check, by the poll interval and the backoff after an error. */
	private earliestAt: number;
	/** When the last scheduled check was sent; if none was yet, when watching began. Confirming checks do not count. */
	private scheduledAt: number;
	/** When the next probe is due; `Infinity` if none is planned. */
	private probeAt = Infinity;
	/** When the next confirming check of a found file is due; `Infinity` if none is planned. */
	private confirmAt = Infinity;
	private confirmations = 0;
	/** True if the last probe did not get its turn in time, because the step sends too many probes. */
	private isCrowded = false;
	/** Number of consecutive failed status checks. */
	private failures = 0;
	/** Number of 404s (the generation does not exist) since the last successful status check. */
	private denials = 0;
	/** The error of the last status check; `null` if that succeeded. */
	lastError: GenerationError | null = null;
	/** False if the run must not rest (end early, see `Rest`) before this watch is over. */
	mayRest = true;
	/** No status check is sent before this time: after a sleep, one poll interval after the end of the previous run. */
	checksFrom = 0;
	/** True if the generation was seen running, and so had a slot of the account. */
	wasRunning: boolean;

	/**
	 * @param generation the last known state, such as the creating response; `null` if only the id is known
	 * @param exists true if the service confirmed the id earlier, so that a 404 is transient
	 */
	constructor(
		private readonly watcher: Watcher,
		readonly id: string,
		public generation: Generation | null,
		private readonly readiness: Readiness,
		private readonly exists: boolean,
	) {
		const now = watcher.ports.clock.now();
		this.since = this.scheduledAt = this.earliestAt = this.seenAt = now;
		this.wasRunning = generation !== null && !isFinal(generation);
		if (exists) watcher.ports.service.confirmBaseUrl();
	}

	get isOver(): boolean {
		return this.generation !== null && isFinal(this.generation);
	}

	/**
	 * Checks and probes until the goal or the deadline is reached. At the deadline, requests that hang are abandoned.
	 *
	 * @param goal `fetched`: until the status is known; `final`: until it is final
	 * @throws GenerationError for an error that is permanent or persists; CancelledError once the step ends
	 */
	async until(goal: 'fetched' | 'final', deadline: number): Promise<void> {
		const { ports, prober } = this.watcher;
		const { clock, halt, rest } = ports;
		const watched = goal === 'final' ? 1 : 0;
		if (watched && this.readiness !== 'status') this.planProbe();
		prober.running += watched;
		try {
			while (watched ? !this.isOver : this.generation === null) {
				const distantAt = rest ? this.distantCheck() : null;
				const statusAt = this.statusDueAt(deadline, distantAt);
				const probeAt = distantAt === null && this.canProbe() ? this.probeAt : Infinity;
				const at = Math.min(statusAt, probeAt, deadline);
				// `Rest` calls this repeatedly: once the run has been awake for long, `distantCheck` may return a later time.
				const restUntil = () => (distantAt === null ? (this.distantCheck() ?? at) : at);
				const over = this.mayRest ? rest?.begin(restUntil) : undefined;
				await pause(clock, at - clock.now(), halt).finally(over);
				if (at === deadline) return;
				// After a pause of the process, such as a sleeping laptop, the deadline may be over. Check once more.
				const until = clock.now() > deadline ? clock.now() + LAST_CHECK_MS : deadline;
				if (statusAt <= probeAt) await this.checkStatus(until);
				else await this.probeOutput(statusAt, until);
			}
		} finally {
			prober.running -= watched;
		}
	}

	/** Requests the status once, and stores it. Throws an error that is permanent or persists. */
	private async checkStatus(deadline: number): Promise<void> {
		const { confirmAt, watcher } = this;
		const { clock } = watcher.ports;
		// During the last pause, another check of the step may have got a `Retry-After`: `until` then pauses again.
		if (watcher.hold.leftMs > 0) return;
		const confirms = confirmAt <= clock.now();
		const request = watcher.fetch(this.id, deadline, confirms ? confirmAt : undefined);
		this.earliestAt = request.at + watcher.intervalMs;
		if (!confirms) this.scheduledAt = request.at;
		const checked = await toResult(async () => await request.response);
		// After the last of `CONFIRMING_PAUSES_MS`, no confirming check is planned (`Infinity`). Scheduled checks go on.
		if (confirms) {
			this.confirmAt = clock.now() + (CONFIRMING_PAUSES_MS[this.confirmations++] ?? Infinity);
		}
		if (!checked.ok) return this.retryLater(checked.error);
		if (checked.value !== null) await this.accept(checked.value, deadline);
	}

	/** Plans the next check after a transient error. Throws any other error, and also a 404 that persists. */
	private retryLater(failure: unknown): void {
		if (!(failure instanceof GenerationError)) throw failure;
		// If the generation is known to exist, a denial (`isDenied`) comes from a proxy, or from a replica that lags behind.
		const isDenied = failure.code === 'generation_not_found' || isForeign(failure);
		const exists = this.exists || this.generation !== null;
		const mayPass = failure.retry !== 'never' || (exists && isForeign(failure));
		const isOutage = mayPass && !failure.fatalForStep;
		if (!isOutage && !(exists && isDenied && this.denials < MAX_RETRIES)) throw failure;
		const isAskedFor = failure.retryAfterMs !== null;
		const { clock, random, debug, rest } = this.watcher.ports;
		if (isOutage) rest?.failed();
		debug?.(`the status check of ${this.id} is repeated (${failure.code})`);
		this.lastError = failure;
		this.watcher.hold.note(failure);
		this.watcher.transientErrors.add(failure);
		// A response that asks to wait (`Retry-After`) does not count as a failure.
		if (!isAskedFor) this.failures++;
		if (!isOutage) this.denials++;
		const tries = isAskedFor ? 0 : Math.max(0, this.failures - 1);
		const isPatient = rest && isOutage && !isAskedFor;
		const pauseMs = isPatient ? rest.backoff(tries) : backoffDelay(tries, random);
		this.earliestAt = Math.max(this.earliestAt, clock.now() + pauseMs);
	}

	/** Stores the state that a status check has found. A completed generation also shows whether probes can be trusted. */
	private async accept(generation: Generation, deadline: number): Promise<void> {
		const { ports, prober } = this.watcher;
		const wasProbed = this.canProbe();
		this.failures = this.denials = 0;
		this.lastError = null;
		this.generation = generation;
		ports.rest?.served();
		const isRunning = !isFinal(generation);
		this.wasRunning ||= isRunning;
		if (isRunning) this.seenAt = ports.clock.now();
		if (isRunning && this.confirmations > CONFIRMING_PAUSES_MS.length) prober.usable = false;
		if (isCompleted(generation)) prober.ended(this);
		// The file of a completed generation exists. If the storage still reports it as missing, probes are useless.
		if (!wasProbed || !isCompleted(generation) || generation.item.url === null) return;
		const probed = await prober.probe(this, this.url, deadline, deadline);
		if (probed?.found === 'missing') prober.usable = false;
	}

	/** @param statusAt when the next status check is due: a probe that has not got its turn by then is not sent */
	private async probeOutput(statusAt: number, deadline: number): Promise<void> {
		const { ports, prober } = this.watcher;
		const probed = await prober.probe(this, this.url, statusAt, deadline);
		this.isCrowded = probed === null;
		if (probed === null) {
			this.probeAt = ports.clock.now();
			return;
		}
		if (probed.found === 'missing') {
			this.seenAt = probed.at;
			return this.planProbe();
		}
		this.probeAt = Infinity;
		if (probed.found === 'unusable') return;
		if (this.readiness !== 'outputUrl') this.confirmAt = ports.clock.now();
		else if (this.generation) {
			// With `outputUrl`, the existing file alone proves that the generation is completed (spec 4.3).
			const { item } = this.generation;
			this.generation = { ...this.generation, item: { ...item, status: 'completed' } };
			prober.ended(this);
		}
	}

	private get url(): string {
		return this.generation?.item.url as string;
	}

	/** In a run that may rest, the time to which `Rest` postpones the next check; `null` if the usual schedule applies. */
	private distantCheck(): number | null {
		const { ports } = this.watcher;
		const { confirmAt, generation } = this;
		if (generation === null || isFinal(generation) || this.lastError) return null;
		if (confirmAt < Infinity) return null;
		const age = ports.rest?.nextCheck(ports.clock.now() - this.since) ?? null;
		return age === null ? null : this.since + age;
	}

	private statusDueAt(deadline: number, distantAt: number | null): number {
		const { since, earliestAt, confirmAt } = this;
		const { hold, ports } = this.watcher;
		let at = earliestAt;
		if (this.lastError === null && this.generation !== null) {
			const due = distantAt ?? this.scheduledAt + this.scheduledPause();
			const last = deadline - Math.min(LAST_CHECK_MS, (deadline - since) / 4);
			at = Math.min(Math.max(earliestAt, Math.min(due, last)), confirmAt);
		}
		// If the service has asked for a pause, no check is sent before its end. Jitter spreads the checks of a step.
		const held = hold.leftMs > 0 ? hold.until + ports.random() * 1000 : 0;
		return Math.max(at, held, this.checksFrom);
	}

	/** Returns the time between two scheduled checks. Jitter spreads the checks of generations created together. */
	private scheduledPause(): number {
		const { ports, intervalMs } = this.watcher;
		const jitter = 1 + 0.03 * ports.random();
		if (this.isCrowded || !this.canProbe()) return intervalMs * jitter;
		if (this.readiness === 'outputUrl') return STATUS_EVERY * intervalMs * jitter;
		const age = this.scheduledAt - this.since;
		const first = FIRST_CHECKS_MS.find((ms) => ms > age);
		if (first !== undefined) return first * jitter - age;
		return Math.max(LATER_CHECKS_MS, age * LATER_CHECKS_OF_AGE);
	}

	private planProbe(): void {
		const { intervalMs, ports } = this.watcher;
		const now = ports.clock.now();
		const { leastMs, ofAge } = PROBE_PAUSE;
		const usual = Math.max(leastMs, (now - this.since) * ofAge) * (0.75 + 0.5 * ports.random());
		this.probeAt =
			now + (this.readiness === 'outputUrl' ? intervalMs : Math.min(intervalMs, usual));
	}

	private canProbe(): boolean {
		const { ports, prober } = this.watcher;
		if (this.probeAt === Infinity || !prober.usable || !this.generation) return false;
		const { url, url_expires_at: expiry } = this.generation.item;
		return url !== null && (expiry === null || Date.parse(expiry) > ports.clock.now());
	}
}
