import { GenerationError, isForeign } from '../api/errors';
import { isCompleted, isFinal, lacksOutput, type Generation } from '../api/generation';
import { backoffDelay, decideRetry, mostRetries, pause } from '../api/retry';
import { toResult, withTimeout } from '../async';
import type { Readiness } from '../job';
import type { Clock, ProbeUrl } from '../ports';
import { requireAbout, StatusRequests } from './status-requests';
import type { StatusChecks, StatusPorts } from './status-requests';

/** The pause between probes is this fraction of the generation's age, but not shorter than this minimum. */
const SHORTEST_PAUSE_MS = 250;
const PAUSE_OF_AGE = 1 / 30;
/** Ages at the first scheduled checks while probing works. They detect failures, which a probe cannot see. */
const FIRST_CHECKS_MS = [4_000, 10_000];
/** Later checks follow after this time or this fraction of the age, whichever is longer. */
const LATER_CHECKS_MS = 10_000;
const LATER_CHECKS_OF_AGE = 1 / 10;
/** The file may be there before the status is final. These are the pauses before more confirming checks. */
const CONFIRMING_PAUSES_MS = [200, 400, 800];
/** With `outputUrl`, the number of poll intervals between two status checks. */
const STATUS_EVERY = 5;
/** A completed generation without an output URL is checked this often in total: a replica may lag behind. */
const CHECKS_FOR_URL = 3;
/** The last status check is sent this long before the deadline, so that its response arrives in time. */
const LAST_CHECK_MS = 1_000;

/** When to stop watching: after the first response about the generation, or at its final status. */
export type Goal = 'fetched' | 'final';

/** What the watches of one step share. */
export class Watcher {
	/** Errors after which a status check was retried, for the step's summary. */
	readonly transientErrors = new Set<GenerationError>();
	readonly requests: StatusRequests;
	readonly output: OutputProbe;

	constructor(
		readonly ports: StatusPorts & { probe: ProbeUrl },
		readonly intervalMs: number,
		checks?: StatusChecks,
	) {
		this.requests = new StatusRequests(ports, intervalMs, checks);
		this.output = new OutputProbe(ports, intervalMs);
	}
}

/** Watches one generation until it ends, by its status and its output URL (spec 4.3). */
export class Watch {
	private readonly since: number;
	/** The id as the service spells it, if the service has confirmed it. A user may have typed it differently. */
	private readonly ownId: string | null;
	/** When the poll interval, and the backoff after an error, allow the next scheduled check. */
	private earliestAt: number;
	/** When the last scheduled check was sent, or watching began. Confirming checks do not shift the schedule. */
	private scheduledAt: number;
	/** When the next probe is due; `Infinity` if none is planned. */
	private probeAt = Infinity;
	/** When the next confirming check is due; `Infinity` if none is planned. */
	private confirmAt = Infinity;
	private confirmations = 0;
	/** True if the step sends too many probes for this generation to be probed too. */
	private crowded = false;
	/** Number of status checks that found the generation completed and without an output URL. */
	private checksForUrl = 0;
	/** Number of consecutive failed status checks. */
	private failures = 0;
	/** The error of the last status check; `null` if that succeeded. */
	lastError: GenerationError | null = null;
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
		this.since = this.scheduledAt = this.earliestAt = watcher.ports.clock.now();
		this.ownId = watcher.requests.known(id)?.item.id ?? (exists ? id : null);
		this.wasRunning = generation !== null && !isFinal(generation);
		if (exists) watcher.ports.service.confirmBaseUrl();
	}

	get isOver(): boolean {
		return this.generation !== null && isFinal(this.generation);
	}

	/**
	 * Checks and probes until the goal or the deadline is reached. Requests that hang are abandoned then.
	 *
	 * @throws GenerationError for an error that is permanent or persists; CancelledError once the step ends
	 */
	async until(goal: Goal, deadline: number): Promise<void> {
		const { clock, halt } = this.watcher.ports;
		if (goal === 'final' && this.readiness !== 'status') this.planProbe();
		while (!this.hasReached(goal)) {
			const statusAt = this.afterHold(this.statusDueAt(deadline));
			const probeAt = this.canProbe() ? this.probeAt : Infinity;
			const at = Math.min(statusAt, probeAt, deadline);
			await pause(clock, at - clock.now(), halt);
			if (at === deadline) return;
			// After a pause of the process, such as a sleeping laptop, the deadline may be over. Check once more.
			const until = clock.now() > deadline ? clock.now() + LAST_CHECK_MS : deadline;
			await (statusAt <= probeAt ? this.check(until) : this.probe(until));
		}
	}

	private hasReached(goal: Goal): boolean {
		const { generation, checksForUrl } = this;
		if (generation === null) return false;
		if (lacksOutput(generation)) return checksForUrl >= CHECKS_FOR_URL;
		return goal === 'fetched' || isFinal(generation);
	}

	private async check(deadline: number): Promise<void> {
		const { confirmAt, watcher } = this;
		const { clock } = watcher.ports;
		// Another check was told to wait in the meantime.
		if (watcher.requests.hold.leftMs > 0) return;
		const confirms = confirmAt <= clock.now();
		const request = watcher.requests.fetch(this.id, deadline, confirms ? confirmAt : undefined);
		this.earliestAt = request.at + watcher.intervalMs;
		if (!confirms) this.scheduledAt = request.at;
		const checked = await toResult(async () => {
			const response = await request.response;
			const id = this.generation?.item.id ?? this.ownId;
			return response && id !== null ? requireAbout(id, response) : response;
		});
		// After the last confirming check, only the schedule counts.
		if (confirms) {
			this.confirmAt = clock.now() + (CONFIRMING_PAUSES_MS[this.confirmations++] ?? Infinity);
		}
		if (!checked.ok) this.retryLater(checked.error);
		else if (checked.value !== null) await this.accept(checked.value, deadline);
	}

	/** Plans the next check after a transient error. Throws any other error. */
	private retryLater(failure: unknown): void {
		if (!(failure instanceof GenerationError)) throw failure;
		// If the generation exists, these come from a proxy or a replica that lags.
		const isDenied = failure.code === 'generation_not_found' || isForeign(failure);
		const exists = this.exists || this.generation !== null;
		// A check needs no slot: a proxy may have sent that code.
		const isTransient = (exists && isDenied) || failure.retry === 'slot';
		const error = isTransient ? failure.with({ retry: 'backoff', fatalForStep: false }) : failure;
		const limits = { retries: this.failures, maxRetries: mostRetries(error) };
		if (decideRetry(error, limits) !== 'backoff') throw error;
		const { clock, random } = this.watcher.ports;
		this.lastError = error;
		this.watcher.requests.hold.note(error);
		this.watcher.transientErrors.add(error);
		const pausedUntil = clock.now() + backoffDelay(this.failures++, random);
		this.earliestAt = Math.max(this.earliestAt, pausedUntil);
	}

	private async accept(generation: Generation, deadline: number): Promise<void> {
		const { output, requests } = this.watcher;
		const wasProbed = this.canProbe();
		this.failures = 0;
		this.lastError = null;
		this.generation = generation;
		if (lacksOutput(generation)) this.checksForUrl++;
		requests.confirm(this.id, generation);
		const isRunning = !isFinal(generation);
		this.wasRunning ||= isRunning;
		if (isRunning && this.confirmations > CONFIRMING_PAUSES_MS.length) output.usable = false;
		// The file of a completed generation exists. If the storage still reports it as missing, probes are useless.
		if (!wasProbed || !isCompleted(generation)) return;
		if ((await output.send(this.url, deadline, false)) === 'missing') output.usable = false;
	}

	private async probe(deadline: number): Promise<void> {
		const { ports, output } = this.watcher;
		const result = await output.send(this.url, deadline);
		this.crowded = result === 'crowded';
		if (result === 'missing' || result === 'crowded') return this.planProbe();
		this.probeAt = Infinity;
		if (result === 'unusable') return;
		if (this.readiness !== 'outputUrl') this.confirmAt = ports.clock.now();
		else if (this.generation) {
			// The existing file alone counts as completed (spec 4.3).
			const { item } = this.generation;
			this.generation = { ...this.generation, item: { ...item, status: 'completed' } };
		}
	}

	private get url(): string {
		return this.generation?.item.url as string;
	}

	private statusDueAt(deadline: number): number {
		const { since, earliestAt, confirmAt } = this;
		if (this.failures > 0 || this.generation === null) return earliestAt;
		const due = this.scheduledAt + this.scheduledPause();
		const last = deadline - Math.min(LAST_CHECK_MS, (deadline - since) / 4);
		return Math.min(Math.max(earliestAt, Math.min(due, last)), confirmAt);
	}

	/** Delays a check until the time that the service has named. Jitter spreads the checks of a step. */
	private afterHold(at: number): number {
		const { ports, requests } = this.watcher;
		const { leftMs, until } = requests.hold;
		return leftMs > 0 ? Math.max(at, until + ports.random() * 1000) : at;
	}

	/** Returns the time between two scheduled checks. Jitter spreads generations that were created together. */
	private scheduledPause(): number {
		const { ports, intervalMs } = this.watcher;
		const jitter = 1 + 0.03 * ports.random();
		if (!this.canProbe() || this.crowded) return intervalMs * jitter;
		if (this.readiness === 'outputUrl') return STATUS_EVERY * intervalMs * jitter;
		const age = this.scheduledAt - this.since;
		const first = FIRST_CHECKS_MS.find((ms) => ms > age);
		if (first !== undefined) return first * jitter - age;
		return Math.max(LATER_CHECKS_MS, age * LATER_CHECKS_OF_AGE);
	}

	private planProbe(): void {
		const { ports, intervalMs } = this.watcher;
		const age = ports.clock.now() - this.since;
		const pauseMs = Math.max(SHORTEST_PAUSE_MS, age * PAUSE_OF_AGE) * (0.75 + 0.5 * ports.random());
		const wanted = this.readiness === 'outputUrl' ? intervalMs : Math.min(intervalMs, pauseMs);
		this.probeAt = ports.clock.now() + wanted;
	}

	private canProbe(): boolean {
		const { output, ports } = this.watcher;
		if (this.probeAt === Infinity || !output.usable || !this.generation) return false;
		const { url, url_expires_at: expiry } = this.generation.item;
		return url !== null && (expiry === null || Date.parse(expiry) > ports.clock.now());
	}
}

/** For a whole step. */
const PROBES_PER_SECOND = 25;
const MAX_QUEUE_MS = 1_000;

/** Probes output URLs for one step. Limits the rate, and remembers whether the storage is reliable. */
export class OutputProbe {
	/** False once the storage proved unreliable: a cached 404, or a file long before its generation is final. */
	usable = true;
	private nextAt = 0;

	constructor(
		private readonly ports: { probe: ProbeUrl; clock: Clock; halt: AbortSignal },
		private readonly intervalMs: number,
	) {}

	/**
	 * Requests the first byte of an output (spec 4.3). Only that byte proves that the file exists, and only 403 and 404
	 * that it does not exist yet. After any other response, such as a page, or none in time, this proves nothing.
	 *
	 * @param mayWait if false, a probe that would have to wait is not sent (`crowded`). It still uses its time slot, which
	 * spreads out the others
	 */
	async send(url: string, deadline: number, mayWait = true) {
		const { clock, probe, halt } = this.ports;
		const now = clock.now();
		const at = Math.max(now, this.nextAt);
		if (at - now > MAX_QUEUE_MS) return 'crowded';
		this.nextAt = at + 1000 / PROBES_PER_SECOND;
		if (at > now && !mayWait) return 'crowded';
		if (at > now) await pause(clock, Math.min(at, deadline) - now, halt);
		if (halt.aborted) return 'unusable';
		const ms = Math.min(this.intervalMs, deadline - clock.now());
		const probing = withTimeout(clock, ms, halt, async (signal) => await probe(url, signal));
		const { status, oneByte } = (await probing.catch(() => null)) ?? {};
		if (status === 403 || status === 404) return 'missing';
		return (status === 200 || status === 206) && oneByte ? 'ready' : 'unusable';
	}
}
