import { attempt } from '../basics/attempt';
import type { ProbeUrl } from '../basics/ports';
import { within } from '../basics/within';
import type { Readiness } from '../jobs/job';
import { backoffDelay, passes } from '../wire/backoff';
import { CancelledError, GenerationError, isForeign } from '../wire/errors';
import { isCompleted, isFinal, type Generation } from '../wire/generation';
import { Looks, requireAbout, type LastLooks, type LookPorts } from './looks';
import { signOf, Storage, type Sign } from './storage';

/** A probe's pause: a quarter of a second at first, then this part of the generation's age. */
const SHORTEST_PAUSE_MS = 250;
const PAUSE_OF_AGE = 1 / 30;

/**
 * Ages of a generation at its first two scheduled status checks while probing works: they find out failures, which a
 * probe cannot see. Later ones follow every 10 s or a tenth of the age.
 */
const FIRST_CHECKS_MS = [4_000, 10_000];
const LATER_CHECKS_MS = 10_000;
const LATER_CHECKS_OF_AGE = 1 / 10;

/** A storage may have the file before the status is final: the pauses before up to three more confirming checks. */
const CONFIRMING_PAUSES_MS = [200, 400, 800];

/** How many pauses apart the status is asked for where the output URL was chosen to be asked instead. */
const STATUS_EVERY = 5;

/** What is left of a timeout for a last look to be answered. */
const LAST_LOOK_MS = 1_000;

/** Until when to watch: until the generation was fetched once, or until its status is final. */
export type Goal = 'fetched' | 'final';

/** What watching reaches the world by. */
export interface WatchPorts extends LookPorts {
	probe: ProbeUrl;
}

/** How the generations of one step are watched, and what is learned of their storage. */
export class Watcher {
	readonly storage = new Storage();
	/** The errors after which a look was repeated, for the step's summary. */
	readonly passed = new Set<GenerationError>();

	readonly looks: Looks;

	/**
	 * @param intervalMs the status of a generation is never asked for more often
	 * @param lastLooks of whoever has watched before
	 */
	constructor(
		readonly ports: WatchPorts,
		readonly intervalMs: number,
		lastLooks?: LastLooks,
	) {
		this.looks = new Looks(ports, intervalMs, lastLooks);
	}

	/**
	 * @param generation as the creating answer gave it; `null` where only its id is known
	 * @param exists whether the service has told of it before: who denies it then comes round
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

/** One generation on its way to its end, noticed by its status and by its output URL (spec 4.3). */
export class Watch {
	private readonly since: number;
	/** Its id as the service writes it, if it has confirmed it: a user may have typed it in another way. */
	private readonly ownId: string | null;
	/** When the status was last requested. */
	private statusAt: number | null = null;
	/** When the last scheduled check was, or the watching began: confirming checks do not shift the schedule. */
	private scheduledAt: number;
	private probeAt = Infinity;
	/** When the next confirming check is due; `null` before a probe has found the file, and after the last of them. */
	private confirmAt: number | null = null;
	/** Confirming checks so far. */
	private confirmations = 0;
	private probing: boolean;
	/** Whether the step has too much to ask the storage for it to be asked about this one, too. */
	private crowded = false;
	/** The looks that failed in a row. */
	private failures = 0;
	private pausedUntil = 0;
	/** The last error that passed. */
	trouble: GenerationError | null = null;
	/** Whether it was seen under way, and so had a slot of the account. */
	wasRunning: boolean;

	constructor(
		private readonly step: Watcher,
		readonly id: string,
		/** As it was last seen; `null` before it was. */
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
	 * Looks until the goal is reached.
	 *
	 * @param deadline milliseconds since the Unix epoch; then it is over in any case, and looks that hang are given up
	 * @throws GenerationError for a refusal or trouble that does not pass; CancelledError once the step ends
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
			// Who was frozen for longer than that, as a laptop is, may have missed the end: it is looked at once more.
			const until = clock.now() > deadline ? clock.now() + LAST_LOOK_MS : deadline;
			await (statusAt <= probeAt ? this.check(until) : this.probe(until));
		}
	}

	private hasReached(goal: Goal): boolean {
		return this.generation !== null && (goal === 'fetched' || isFinal(this.generation));
	}

	/** Whether its status is final. */
	get isOver(): boolean {
		return this.hasReached('final');
	}

	/** Checks the status. */
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

	/** After a confirming check. The schedule alone counts where the last of them finds no final status. */
	private planConfirmation(): void {
		const pause = CONFIRMING_PAUSES_MS.at(this.confirmations - 1);
		this.confirmAt = pause === undefined ? null : this.step.ports.clock.now() + pause;
	}

	/** @throws GenerationError where an answer is about another generation than the one that is known to be this */
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
		// The storage should have the file by now. One that denies it would do so for every generation.
		if (unannounced && isCompleted(generation) && storage.turn(ports.clock.now()) === 0) {
			if ((await this.sign(deadline)) === 'not yet') storage.usable = false;
		}
	}

	/** Asks the storage for the first byte. */
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

	/** The output is there, which says the same as the status (spec 4.3), for those who want to ask no more than that. */
	private complete(): void {
		const generation = this.generation as Generation;
		this.generation = { ...generation, item: { ...generation.item, status: 'completed' } };
	}

	/** When the status is to be checked next. */
	private statusDueAt(deadline: number): number {
		const { since, statusAt, confirmAt, pausedUntil } = this;
		const earliest = statusAt === null ? since : statusAt + this.step.intervalMs;
		if (this.failures > 0 || this.generation === null) return Math.max(earliest, pausedUntil);
		const due = this.scheduledAt + this.scheduledPause();
		const scheduled = Math.max(earliest, Math.min(due, deadline - this.lastLook(deadline)));
		return Math.min(scheduled, confirmAt ?? Infinity);
	}

	/** How long before the deadline there is a last look, so that it can be answered in time. */
	private lastLook(deadline: number): number {
		return Math.min(LAST_LOOK_MS, (deadline - this.since) / 4);
	}

	/** From one scheduled check to the next. Jitter keeps generations that were created together apart. */
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
 * The error of a look at what exists: who denies it now is a proxy on the way or a replica that lags, and comes
 * round.
 */
function ofWhatExists(error: GenerationError): GenerationError {
	const denied = error.code === 'generation_not_found' || isForeign(error);
	return denied ? error.with({ retry: 'backoff', stopsSubmitting: false }) : error;
}
