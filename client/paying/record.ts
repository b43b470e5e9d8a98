import { attempt } from '../basics/attempt';
import type { Random } from '../basics/ports';
import { CancelledError, type KnownGeneration } from '../wire/errors';
import { Claims } from './claims';
import { orderName } from './order-name';
import { Quiet } from './quiet';
import { all, asSeen, RecordDesk, type DeskPorts } from './record-desk';
import { fieldsOf, hasId, isFree, CLAIMED, SENT, type RecordScope } from './record-rows';
import { available, unavailable, type RecordFields, type RecordRow } from './record-store';

/** Who has not been heard of for this long is gone. */
const GONE_AFTER_MS = 60_000;
/** How often a writer is heard of while a request of its is under way. */
const BEAT_MS = 15_000;
/** How often to look what became of another's request. */
const LOOK_MS = 1_000;

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
	/** Failed generations that are being written down as such, by key. */
	private readonly failing = new Map<string, Promise<void>>();
	private readonly underWay = new Map<string, UnderWay>();
	/** Keys whose id is known and on its way into the table. */
	private readonly arriving = new Set<string>();
	private readonly desk: RecordDesk;
	private readonly claims: Claims;
	/** Ends that are written when there is time, by status. */
	private readonly ends = new Map<string, string[]>();
	private readonly closing = new AbortController();

	constructor(
		private readonly scope: RecordScope,
		private readonly ports: RecordPorts,
	) {
		this.desk = new RecordDesk(scope, ports);
		const isAhead = (key: string) => this.underWay.has(key) || this.arriving.has(key);
		this.claims = new Claims(scope, this.desk, ports, isAhead);
		void this.beat();
	}

	/**
	 * Reads all keys of a step at once, and claims those that nobody has.
	 *
	 * @throws GenerationError `record_unavailable`
	 */
	async begin(keys: string[]): Promise<void> {
		await available(async () => await this.claims.claim([...new Set(keys)]));
	}

	/**
	 * What is on record of a key; where another's request is under way, what comes of it.
	 *
	 * @throws GenerationError `record_unavailable`, or CancelledError
	 */
	async find(key: string, signal = this.ports.signal): Promise<Found> {
		const { clock } = this.ports;
		const quiet = new Quiet(clock);
		for (let looks = 0; ; ) {
			await this.failing.get(key);
			if (signal.aborted) throw new CancelledError();
			const row = this.claims.rows.get(key);
			const own = this.underWay.get(key);
			if (own) await clock.sleep(LOOK_MS, own.over.signal);
			else if (!row) await available(async () => await this.claims.claim([key]));
			else if (hasId(row)) return { state: 'made', row };
			else if (isFree(row)) return { state: 'free', row };
			// What was seen long ago tells nothing: only a fresh look shows whether its writer is there.
			else if (looks > 0 && this.isGone(row, quiet)) return { state: 'open', row };
			else {
				if (looks++ > 0) await clock.sleep(LOOK_MS, signal);
				await available(async () => await this.claims.refresh([key]));
			}
		}
	}

	/**
	 * Right before the creating request leaves. When it resolves with `true` the row says so, and nobody else sends.
	 *
	 * @param holder who sends: several items of a step may have one key
	 * @param open the row that `find` has called open, where it may be sent once more
	 * @returns `false` where somebody else was quicker: `find` tells what came of that
	 * @throws GenerationError `record_unavailable`
	 */
	async send(key: string, holder: object, open?: RecordRow): Promise<boolean> {
		const before = this.underWay.get(key);
		if (before) {
			await before.leaving;
			return !before.leaving && before.holder === holder;
		}
		const row = this.claims.rows.get(key);
		if (!row || hasId(row) || !(isFree(row) || row === open)) return false;
		const ticket = this.claims.isOwn(row) && isFree(row) ? row.writer : this.claims.ticket();
		const sent = { ...row, status: SENT, writer: ticket };
		const own = { holder, row: sent, wasOpen: !isFree(row), over: new AbortController() };
		this.underWay.set(key, own);
		const taken = await attempt(async () => await this.take(row, ticket));
		if (taken.ok && !taken.value) {
			this.claims.rows.delete(key);
			this.settle(key);
			return false;
		}
		this.claims.rows.set(key, sent);
		if (taken.ok) return true;
		// Where the table failed, it may be in there all the same.
		void this.withdraw(key, holder);
		throw unavailable(taken.error);
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
	async made(
		key: string,
		{ id, status }: KnownGeneration,
		about: Partial<RecordFields> = {},
	): Promise<void> {
		const row = this.underWay.get(key)?.row;
		if (!row) return;
		const set = { ...about, generation_id: id, status: status ?? 'pending' };
		this.claims.rows.set(key, { ...row, ...set });
		this.arriving.add(key);
		this.settle(key);
		await this.desk.background(async () => {
			const kept = await this.desk.keep(async () => {
				if (await this.desk.writeId({ where: asSeen(row), set })) return;
				// Its row was deleted or taken over; or a try that seemed to fail has written it.
				const rows = await this.desk.read(key);
				if (rows.some((one) => one.generation_id === id)) return;
				await this.desk.insert(fieldsOf({ ...row, ...set }));
			});
			if (!kept.ok) this.unrecorded.add(key);
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
			this.failing.set(key, this.fail(row));
		} else if (row.status !== status) {
			this.claims.rows.set(key, { ...row, status });
			this.ends.set(status, [...(this.ends.get(status) ?? []), id]);
		}
	}

	/** The row of a key, as it was last seen. */
	rowOf(key: string): RecordRow | undefined {
		return this.claims.rows.get(key);
	}

	/** The name of a key's order. @param print from `digestOf` its request */
	nameOf(key: string, print: string): string {
		const { workflowId, nodeId } = this.scope;
		return orderName([workflowId, nodeId, key], this.claims.failures.get(key) ?? 0, print);
	}

	/** Writes what is left to write, and takes back claims of which nothing came. Never throws. */
	async close(): Promise<void> {
		this.closing.abort();
		await Promise.all([this.desk.settled(), ...this.failing.values()]);
		await Promise.all([
			attempt(async () => await this.writeEnds()),
			attempt(async () => await this.claims.takeBack()),
		]);
	}

	private async fail(row: RecordRow): Promise<void> {
		const where = all(['generation_id', row.generation_id]);
		await this.desk.settled();
		const written = await this.desk.keep(
			async () => await this.desk.write({ where, set: { status: 'failed' } }),
		);
		if (!written.ok) this.unrecorded.add(row.key);
	}

	private isGone(row: RecordRow, quiet: Quiet): boolean {
		if (row.writer === '' || this.claims.isOwn(row)) return true;
		return quiet.since(row) >= GONE_AFTER_MS;
	}

	/** Makes a row ours and sent. */
	private async take(row: RecordRow, ticket: string): Promise<boolean> {
		if (row.writer === ticket) return await this.desk.sendOwn(row);
		const set = { writer: ticket, execution_id: this.scope.executionId, status: SENT };
		return await this.desk.write({ where: asSeen(row), set });
	}

	private async giveBack(key: string, set: Partial<RecordFields>): Promise<void> {
		const own = this.underWay.get(key);
		if (!own) return;
		const { row } = own;
		own.leaving ??= this.desk.background(async () => {
			const where = asSeen(row);
			const given = await this.desk.keep(async () => await this.desk.write({ where, set }));
			if (given.ok && given.value) this.claims.rows.set(key, { ...row, ...set });
			else this.claims.rows.delete(key);
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
			if (this.underWay.size > 0) {
				const where = all(this.claims.mine, ['status', SENT]);
				await attempt(async () => await this.desk.write({ where, set: { status: SENT } }));
			}
			await attempt(async () => await this.writeEnds());
		}
	}

	private async writeEnds(): Promise<void> {
		const ends = [...this.ends];
		this.ends.clear();
		for (const [status, ids] of ends) await this.desk.writeEnds(status, ids);
	}
}
