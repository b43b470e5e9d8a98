import { attempt } from '../basics/attempt';
import type { Random } from '../basics/ports';
import { CancelledError, type KnownGeneration } from '../wire/errors';
import { Claims } from './claims';
import { digest } from './digest';
import { all, RecordDesk, type DeskPorts } from './record-desk';
import { RecordEnds } from './record-ends';
import { hasId, isFree, sameState, CLAIMED, SENT, type RecordScope } from './record-rows';
import {
	stillSending,
	unavailable,
	UnansweredError,
	type RecordFields,
	type RecordRow,
} from './record-store';

/** How often a writer is heard of while a request of its is under way. */
const BEAT_MS = 15_000;
/** How often to look what became of another's request. */
const LOOK_MS = 1_000;
/** A row that took longer than this to write may no longer be ours: others call it abandoned after a minute. */
const LATE_MS = 40_000;
/** Shortest time to wait for another's request: enough to find out that its writer is gone. */
const SHORTEST_WAIT_MS = 90_000;

export interface RecordPorts extends DeskPorts {
	random: Random;
}

/** What is on record of a key. */
export interface Found {
	/** `free`: nothing has left. `made`: there is a generation. `open`: sent, and nobody is there to tell what came of it. */
	state: 'free' | 'made' | 'open';
	row: RecordRow;
}

/** A request of ours that has left. */
interface UnderWay {
	holder: object;
	/** As it was sent. */
	row: RecordRow;
	/** It was open before already: whatever becomes of this try, it stays so. */
	wasOpen: boolean;
	/** Wakes those of this step who wait for what comes of it. */
	over: AbortController;
	/** The claim is being given back. */
	leaving?: Promise<void>;
}

/**
 * The record outside of the execution, which outlives it. One row is one generation.
 *
 * No more than one request a key leaves, whoever else writes, by two rules. A row is changed only by compare-and-set: its
 * writer is a ticket that no other row has and that is new with every change of hands. And two executions may claim a key
 * at the same moment: who reads several claims removes the surplus, and sends only when one is left; the later of two
 * always sees both. A claim belongs to nobody: whoever is ready first may take it.
 */
export class GenerationRecord {
	/** Keys whose generation could not be put on record. */
	readonly unrecorded = new Set<string>();
	private readonly underWay = new Map<string, UnderWay>();
	/** Keys whose id is known and on its way into the table. */
	private readonly arriving = new Set<string>();
	private readonly desk: RecordDesk;
	private readonly claims: Claims;
	private readonly ends: RecordEnds;
	private readonly closing = new AbortController();

	constructor(
		private readonly scope: RecordScope,
		private readonly ports: RecordPorts,
	) {
		this.desk = new RecordDesk(scope, ports);
		const isAhead = (key: string) => this.underWay.has(key) || this.arriving.has(key);
		this.claims = new Claims(scope, this.desk, ports, isAhead);
		this.ends = new RecordEnds(this.desk, this.unrecorded);
		void this.beat();
	}

	/**
	 * Reads all keys of a step at once, and claims those that nobody has.
	 *
	 * @param drafts what is known of their requests before they are built
	 * @throws GenerationError `record_unavailable`
	 */
	async begin(keys: string[], drafts = new Map<string, Partial<RecordFields>>()): Promise<void> {
		drafts.forEach((draft, key) => this.claims.drafts.set(key, draft));
		const claimed = await attempt(async () => await this.claims.claim([...new Set(keys)]));
		// Nothing is sent any more, so that the claims are not needed.
		if (!claimed.ok && !this.ports.signal.aborted) throw unavailable(claimed.error);
	}

	/**
	 * What is on record of a key; where another's request is under way, what comes of it.
	 *
	 * @param timeoutMs longest time to wait for that, in milliseconds
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async find(key: string, signal = this.ports.signal, timeoutMs = Infinity): Promise<Found> {
		const { clock } = this.ports;
		const deadline = clock.now() + Math.max(timeoutMs, SHORTEST_WAIT_MS);
		for (let looks = 0; ; ) {
			await this.ends.failureOf(key);
			if (signal.aborted) throw new CancelledError();
			const row = this.claims.rows.get(key);
			const own = this.underWay.get(key);
			if (!own && row && hasId(row)) return { state: 'made', row };
			if (!own && row && isFree(row)) return { state: 'free', row };
			// What was seen long ago tells nothing: only a fresh look shows whether its writer is there.
			if (!own && row && looks > 0 && (await this.claims.isAbandoned(row))) {
				return { state: 'open', row: this.claims.rows.get(key) ?? row };
			}
			if (row && clock.now() >= deadline) throw stillSending(row);
			if (own) await clock.sleep(LOOK_MS, own.over.signal);
			else if (!row) await this.ask(async () => await this.claims.claim([key]));
			else {
				if (looks++ > 0) await clock.sleep(LOOK_MS, signal);
				await this.ask(async () => await this.claims.refresh([key]));
			}
		}
	}

	/**
	 * Right before the creating request leaves. When it resolves with `true` the row says so, and nobody else sends.
	 *
	 * @param holder who sends: several items of a step may have one key
	 * @param open the row that `find` has called open, where it may be sent once more
	 * @param about what the row is to say of the request
	 * @returns `false` where somebody else was quicker: `find` tells what came of that
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async send(
		key: string,
		holder: object,
		open?: RecordRow,
		about: Partial<RecordFields> = {},
	): Promise<boolean> {
		if (this.ports.signal.aborted) throw new CancelledError();
		const before = this.underWay.get(key);
		if (before) {
			await before.leaving;
			return !before.leaving && before.holder === holder;
		}
		const row = this.claims.rows.get(key);
		if (!row || hasId(row)) return false;
		if (!isFree(row) && !(open && sameState(row, open))) return false;
		const ticket = this.claims.isOwn(row) && isFree(row) ? row.writer : this.claims.ticket();
		const sent = { ...row, ...about, status: SENT, writer: ticket };
		const own = { holder, row: sent, wasOpen: !isFree(row), over: new AbortController() };
		this.underWay.set(key, own);
		const from = this.ports.clock.now();
		const taken = await attempt(async () => await this.desk.take(row, ticket, about));
		if (taken.ok && !taken.value) {
			this.settle(key);
			this.claims.missed(row);
			return false;
		}
		this.claims.rows.set(key, sent);
		if (taken.ok && this.ports.clock.now() - from < LATE_MS) return true;
		if (taken.ok) {
			// While the process was paused, others may have taken its row.
			await this.withdraw(key, holder);
			this.claims.missed(row);
			return false;
		}
		// Where the table failed, it may be in there all the same.
		void this.withdraw(key, holder);
		throw this.failure(taken.error);
	}

	/** Whether a request of this holder is under way. */
	isHeldBy(key: string, holder: object): boolean {
		const own = this.underWay.get(key);
		return own?.holder === holder && !own.leaving;
	}

	/** It was certainly not charged: the claim is free again. */
	async withdraw(key: string, holder: object): Promise<void> {
		if (!this.isHeldBy(key, holder)) return;
		if (this.underWay.get(key)?.wasOpen) return await this.giveBack(key, { writer: '' });
		await this.giveBack(key, { status: CLAIMED, writer: this.claims.ticket() });
	}

	/** Nobody here waits for its answer any longer, and what came of it is not known. */
	async leave(key: string, holder: object): Promise<void> {
		if (this.isHeldBy(key, holder)) await this.giveBack(key, { writer: '' });
	}

	/** Its id, as soon as it is known. Need not be waited for: `close` does. Never rejects. */
	async made(key: string, { id, status }: KnownGeneration): Promise<void> {
		const row = this.underWay.get(key)?.row;
		if (!row) return;
		const set = { generation_id: id, status: status ?? 'pending' };
		this.claims.rows.set(key, { ...row, ...set });
		this.arriving.add(key);
		this.settle(key);
		await this.desk.background(async () => {
			const kept = await this.desk.keep(async () => await this.desk.putOnRecord(row, set));
			if (!kept.ok && !(kept.error instanceof UnansweredError)) this.unrecorded.add(key);
			this.arriving.delete(key);
		});
	}

	/** How it has ended. A failed one was refunded, so that `find` then claims the key anew. */
	ended(key: string, { id, status }: { id: string; status: string }): void {
		const row = this.claims.rows.get(key);
		// An item with the same key may have come to another one since.
		if (row?.generation_id !== id) return;
		if (status === 'failed') {
			this.claims.rows.delete(key);
			this.claims.failed.add(id);
			this.ends.fail(row);
		} else if (row.status !== status) {
			this.claims.rows.set(key, { ...row, status });
			this.ends.add(status, id);
		}
	}

	/** The row of a key, as it was last seen. */
	rowOf(key: string): RecordRow | undefined {
		return this.claims.rows.get(key);
	}

	/** One name for the order that the row of a key stands for: the same for whoever takes it up, another once it failed. */
	nameOf(key: string): string | undefined {
		const row = this.claims.rows.get(key);
		const { workflowId, nodeId } = this.scope;
		return row && digest(JSON.stringify([workflowId, nodeId, key, row.id, row.born]));
	}

	/** Writes what is left to write, and takes back claims of which nothing came. Never throws. */
	async close(): Promise<void> {
		this.closing.abort();
		await Promise.all([this.desk.settled(), this.ends.settled()]);
		await Promise.all([
			attempt(async () => await this.ends.write()),
			attempt(async () => await this.claims.takeBack()),
		]);
	}

	/** Runs what needs the table. @throws CancelledError after the end of the execution, or GenerationError `record_unavailable` */
	private async ask(run: () => Promise<void>): Promise<void> {
		const asked = await attempt(run);
		if (!asked.ok) throw this.failure(asked.error);
	}

	private failure(error: unknown): unknown {
		return this.ports.signal.aborted ? new CancelledError() : unavailable(error);
	}

	private async giveBack(key: string, set: Partial<RecordFields>): Promise<void> {
		const own = this.underWay.get(key);
		if (!own) return;
		const { row } = own;
		own.leaving ??= this.desk.background(async () => {
			// Whether the table has it as sent yet or not: no other row has our ticket.
			const where = all(['id', row.id], ['writer', row.writer]);
			const given = await this.desk.keep(
				async () => await this.desk.write({ where, set, final: true }),
			);
			if (given.ok && !given.value) this.claims.rows.delete(key);
			else this.claims.rows.set(key, { ...row, ...set });
			this.settle(key);
		});
		await own.leaving;
	}

	private settle(key: string): void {
		const own = this.underWay.get(key);
		this.underWay.delete(key);
		own?.over.abort();
	}

	/** One heartbeat for all that is under way, and with it what had time. */
	private async beat(): Promise<void> {
		const { signal } = this.closing;
		for (;;) {
			await this.ports.clock.sleep(BEAT_MS, signal);
			if (signal.aborted) return;
			void this.desk.background(async () => await this.watchOthers());
			if (this.underWay.size > 0) {
				const where = all(this.claims.mine, ['status', SENT]);
				const set = { status: SENT };
				await attempt(async () => await this.desk.write({ where, set, final: true }));
			}
			await attempt(async () => await this.ends.write());
		}
	}

	/** Reads what others have sent, so that its time runs while nobody waits for it yet. */
	private async watchOthers(): Promise<void> {
		await attempt(async () => await this.claims.refresh(this.claims.watched));
	}
}
