import { attempt, within } from '../async';
import type { ProbeUrl } from '../ports';
import type { Readiness } from '../job';
import { backoffDelay, passes } from '../api/retry';
import { CancelledError, GenerationError, isForeign } from '../api/errors';
import { isCompleted, isFinal, type Generation } from '../api/generation';
import { Looks, requireAbout, type LastLooks, type LookPorts } from './status-requests';
import { signOf, Storage, type Sign } from './output-probe';

/** The pause between probes is this fraction of the generation's age, but not shorter than this minimum. */
const SHORTEST_PAUSE_MS = 250;
const PAUSE_OF_AGE = 1 / 30;

/**
 * Ages of a generation at its first two scheduled status checks while probing works. They detect failures, which a
 * probe cannot see. Later checks follow every 10 s or a tenth of the age, whichever is longer.
 */
const FIRST_CHECKS_MS = [4_000, 10_000];
const LATER_CHECKS_MS = 10_000;
const LATER_CHECKS_OF_AGE = 1 / 10;

/**
 * The storage may have the file before the status is final. These are the pauses before up to three more confirming
 * checks.
 */
const CONFIRMING_PAUSES_MS = [200, 400, 800];

/** With `outputUrl`, the number of poll intervals between two status checks. */
const STATUS_EVERY = 5;

/** The last status check is sent this long before the deadline, so that it can be answered in time. */
const LAST_LOOK_MS = 1_000;

/** When to stop watching: after the first response about the generation, or at its final status. */
export type Goal = 'fetched' | 'final';

/** Dependencies of watching. */
export interface WatchPorts extends LookPorts {
	probe: ProbeUrl;
}

/** Watches the generations of one step, and remembers how reliable their storage is. */
export class Watcher {
	readonly storage = new Storage();
	/** Errors after which a status check was retried, for the step's summary. */
	readonly passed = new Set<GenerationError>();

	readonly looks: Looks;

	/**
	 * @param intervalMs minimum time between two scheduled status checks of a generation
	 * @param lastLooks earlier status checks, such as those before a sleep
	 */
	constructor(
		readonly ports: WatchPorts,
		readonly intervalMs: number,
		lastLooks?: LastLooks,
	) {
		this.looks = new Looks(ports, intervalMs, lastLooks);
	}

	/**
	 * @param generation from the creating response; `null` if only its id is known
	 * @param exists true if the service confirmed the id earlier, so that a 404 is transient
	 */
	watch(
		id: string,
		generation: Generation | null,
		readiness: Readiness,
		exists = generation !== null,
	): Watch {
		return new Watch(this, id, generation, readiness, exists);
	}
}

/** Watches one generation until it ends, by its status and its output URL (spec 4.3). */
export class Watch {
	private readonly since: number;
	/** The id as the service spells it, if the service has confirmed it. A user may have typed it differently. */
	private readonly ownId: string | null;
	/** When the status was last requested. */
	private statusAt: number | null = null;
	/** When the last scheduled check was sent, or the watching began. Confirming checks do not shift the schedule. */
	private scheduledAt: number;
	private probeAt = Infinity;
	/**
	 * When the next confirming check is due; `null` before a probe has found the file, and after the last of these
	 * checks.
	 */
	private confirmAt: number | null = null;
	/** Number of confirming checks so far. */
	private confirmations = 0;
	private probing: boolean;
	/** True if the step sends too many probes for this generation to be probed too. */
	private crowded = false;
	/** Number of consecutive failed status checks. */
	private failures = 0;
	private pausedUntil = 0;
	/** The last transient error. */
	trouble: GenerationError | null = null;
	/** True if the generation was seen running, and so had a slot of the account. */
	wasRunning: boolean;

	constructor(
		private readonly step: Watcher,
		readonly id: string,
		/** The last known state; `null` before the first one. */
		public generation: Generation | null,
		private readonly readiness: Readiness,
		private exists: boolean,
	) {
		this.since = this.scheduledAt = step.ports.clock.now();
		this.ownId = step.looks.known(id)?.item.id ?? (exists ? id : null);
		this.probing = readiness !== 'status';
		this.wasRunning = generation !== null && !isFinal(generation);
	}

	/**
	 * Checks and probes until the goal or the deadline is reached.
	 *
	 * @param deadline milliseconds since the Unix epoch; requests that hang are abandoned then
	 * @throws GenerationError for an error that is permanent or persists; CancelledError once the step ends
	 */
	async until(goal: Goal, deadline: number): Promise<void> {
		const { clock, halt } = this.step.ports;
		if (goal === 'final') this.planProbe();
		while (!this.hasReached(goal)) {
			const statusAt = this.statusDueAt(deadline);
			const probeAt = this.canProbe() ? this.probeAt : Infinity;
			const at = Math.min(statusAt, probeAt, deadline);
			await clock.sleep(Math.max(0, at - clock.now()), halt);
			if (halt.aborted) throw new CancelledError();
			if (at === deadline) return;
			// After a long pause of the process, such as a sleeping laptop, the end may have been missed. Check once
			// more.
			const until = clock.now() > deadline ? clock.now() + LAST_LOOK_MS : deadline;
			await (statusAt <= probeAt ? this.check(until) : this.probe(until));
		}
	}

	private hasReached(goal: Goal): boolean {
		return this.generation !== null && (goal === 'fetched' || isFinal(this.generation));
	}

	get isOver(): boolean {
		return this.hasReached('final');
	}

	private async check(deadline: number): Promise<void> {
		const { clock, random } = this.step.ports;
		const { confirmAt } = this;
		const confirms = confirmAt !== null && confirmAt <= clock.now();
		const request = this.step.looks.look(this.id, deadline, confirms ? confirmAt : undefined);
		this.statusAt = request.at;
		if (confirms) this.confirmations++;
		else this.scheduledAt = request.at;
		const tried = await attempt(async () => this.requireOwn(await request.seen));
		if (confirms) this.planConfirmation();
		if (tried.ok) {
			if (tried.value !== null) await this.see(tried.value, deadline);
			return;
		}
		if (!(tried.error instanceof GenerationError)) throw tried.error;
		const error = this.exists ? ofWhatExists(tried.error) : tried.error;
		if (!passes(error, this.failures)) throw error;
		this.trouble = error;
		this.step.passed.add(error);
		this.pausedUntil = clock.now() + backoffDelay(this.failures++, random);
	}

	/** Plans the next confirming check. If the last of them finds no final status, only the schedule counts. */
	private planConfirmation(): void {
		const pause = CONFIRMING_PAUSES_MS.at(this.confirmations - 1);
		this.confirmAt = pause === undefined ? null : this.step.ports.clock.now() + pause;
	}

	/** @throws GenerationError if the response is about another generation than this one */
	private requireOwn(seen: Generation | null): Generation | null {
		const id = this.generation?.item.id ?? this.ownId;
		return seen === null || id === null ? seen : requireAbout(id, seen);
	}

	private async see(generation: Generation, deadline: number): Promise<void> {
		const { storage, ports } = this.step;
		const unannounced = this.canProbe();
		this.failures = 0;
		this.generation = generation;
		this.step.looks.confirm(this.id, generation);
		this.exists = true;
		this.wasRunning ||= !isFinal(generation);
		if (!isFinal(generation) && this.confirmations > CONFIRMING_PAUSES_MS.length) {
			storage.usable = false;
		}
		// The storage should have the file by now. A storage that denies it would do so for every generation.
		if (unannounced && isCompleted(generation) && storage.turn(ports.clock.now()) === 0) {
			if ((await this.sign(deadline)) === 'not yet') storage.usable = false;
		}
	}

	/** Requests the first byte of the output. */
	private async probe(deadline: number): Promise<void> {
		const { clock, halt } = this.step.ports;
		const pause = this.step.storage.turn(clock.now());
		this.crowded = pause === null;
		if (pause === null) return this.planProbe();
		await clock.sleep(Math.min(pause, deadline - clock.now()), halt);
		if (halt.aborted) throw new CancelledError();
		const sign = await this.sign(deadline);
		if (sign === 'not yet') return this.planProbe();
		this.probing = false;
		if (sign === 'nothing') return;
		if (this.readiness === 'outputUrl') this.complete();
		else this.confirmAt = clock.now();
	}

	private async sign(deadline: number): Promise<Sign> {
		const { clock, probe, halt } = this.step.ports;
		if (halt.aborted) return 'nothing';
		const url = this.generation?.item.url as string;
		const ms = Math.min(this.step.intervalMs, deadline - clock.now());
		const tried = await attempt(
			async () => await within(clock, ms, halt, async (signal) => await probe(url, signal)),
		);
		return tried.ok && tried.value !== null ? signOf(tried.value.value) : 'nothing';
	}

	/** With `outputUrl`, the existing file alone counts as completed (spec 4.3). */
	private complete(): void {
		const generation = this.generation as Generation;
		this.generation = { ...generation, item: { ...generation.item, status: 'completed' } };
	}

	/** Returns when the next status check is due. */
	private statusDueAt(deadline: number): number {
		const { since, statusAt, confirmAt, pausedUntil } = this;
		const earliest = statusAt === null ? since : statusAt + this.step.intervalMs;
		if (this.failures > 0 || this.generation === null) return Math.max(earliest, pausedUntil);
		const due = this.scheduledAt + this.scheduledPause();
		const scheduled = Math.max(earliest, Math.min(due, deadline - this.lastLook(deadline)));
		return Math.min(scheduled, confirmAt ?? Infinity);
	}

	/** Returns how long before the deadline the last check is sent, so that it can be answered in time. */
	private lastLook(deadline: number): number {
		return Math.min(LAST_LOOK_MS, (deadline - this.since) / 4);
	}

	/**
	 * Returns the time from one scheduled check to the next. Jitter spreads generations that were created together.
	 */
	private scheduledPause(): number {
		const { random } = this.step.ports;
		const { intervalMs } = this.step;
		const jitter = 1 + 0.03 * random();
		if (!this.canProbe() || this.crowded) return intervalMs * jitter;
		if (this.readiness === 'outputUrl') return STATUS_EVERY * intervalMs * jitter;
		const age = this.scheduledAt - this.since;
		const first = FIRST_CHECKS_MS.find((ms) => ms > age);
		if (first !== undefined) return first * jitter - age;
		return Math.max(LATER_CHECKS_MS, age * LATER_CHECKS_OF_AGE);
	}

	private planProbe(): void {
		const { clock, random } = this.step.ports;
		const { intervalMs } = this.step;
		const age = clock.now() - this.since;
		const pause = Math.max(SHORTEST_PAUSE_MS, age * PAUSE_OF_AGE) * (0.75 + 0.5 * random());
		const wanted = this.readiness === 'outputUrl' ? intervalMs : Math.min(intervalMs, pause);
		this.probeAt = clock.now() + wanted;
	}

	private canProbe(): boolean {
		if (!this.probing || !this.step.storage.usable || !this.generation) return false;
		const { url, url_expires_at: expiry } = this.generation.item;
		return url !== null && (expiry === null || Date.parse(expiry) > this.step.ports.clock.now());
	}
}

/**
 * Makes a 404, or a response that is not the service's own, transient. The generation exists, so these come from a
 * proxy or a replica that lags.
 */
function ofWhatExists(error: GenerationError): GenerationError {
	const denied = error.code === 'generation_not_found' || isForeign(error);
	return denied ? error.with({ retry: 'backoff', stopsSubmitting: false }) : error;
}
