import type { Row } from '../../../client/jobs/row';
import type { TableCall } from '../../../client/orders/table';
import type { MemoryTable } from '../../support/memory-table';
import type { VirtualTime } from '../../support/virtual-time';

/** How long a writer waits between two reads of a key that others claim at the same time. */
const SETTLE_MS = 300;

/** How long one may take to delete a row whose request does not leave: another was first, or the step ends. */
const LOSING_MS = 3_000;

/** What became of a row since it says that its request is sent. */
interface Claim {
	/** The request was handed to the network. */
	hasLeft: boolean;
	/** Until when its writer may still be busy with the table. A request leaves right after the last answer. */
	busyUntil: number;
	/** The key and the time of a row that was inserted. */
	key?: string;
	at: number;
}

/**
 * Follows the rows that say that a request is sent. An item that only waits must not have one: if its process dies, the
 * next execution has to create it, and must not call it uncertain.
 */
export class Claims {
	private readonly byWriter = new Map<string, Claim>();

	constructor(
		private readonly time: VirtualTime,
		private readonly table: MemoryTable,
	) {}

	/** Keys whose rows say that a writer sends their request. A user may have emptied the key. */
	keys(writer: string): number[] {
		return this.rows(writer).map(({ key }) => Number(key));
	}

	/**
	 * Those whose request has left, or is about to.
	 *
	 * @param mayEnd true if the step may have ended a moment ago
	 */
	keysThatMayHaveLeft(writer: string, mayEnd: boolean): number[] {
		const rows = this.rows(writer).filter((row) => {
			const claim = this.byWriter.get(row.writer);
			const hasRival =
				this.table.rows.some(({ id, key }) => key === row.key && id !== row.id) ||
				this.hadRival(row);
			const busyUntil = (claim?.busyUntil ?? Infinity) + (hasRival || mayEnd ? LOSING_MS : 0);
			return claim?.hasLeft || this.time.now() <= busyUntil;
		});
		return rows.map(({ key }) => Number(key));
	}

	/** A table call of an execution begins: its rows of these keys are busy. Returns what to call with the answer. */
	calls(writer: string, { keys, changes, inserts }: TableCall): () => void {
		const sets = changes.flatMap(({ set }) => (set?.execution_id ? [set] : []));
		const at = this.time.now();
		const claimed = [...inserts, ...sets].map(({ writer = '', key }) => {
			this.byWriter.set(writer, { hasLeft: false, busyUntil: Infinity, key, at });
			return writer;
		});
		const asked = new Set(keys.map(Number));
		const read = this.rows(writer).filter(({ key }) => asked.has(Number(key)));
		// A row whose request does not leave is deleted by its writer's name.
		const named = changes.flatMap(({ where }) =>
			where.conditions.map(([, value]) => String(value)),
		);
		const busy = [...claimed, ...named, ...read.map((row) => row.writer)].flatMap(
			(one) => this.byWriter.get(one) ?? [],
		);
		busy.forEach((claim) => (claim.busyUntil = Infinity));
		return () => busy.forEach((claim) => (claim.busyUntil = this.time.now() + SETTLE_MS));
	}

	/** An execution hands the creating request of a key to the network. */
	leaves(writer: string, key: number): void {
		for (const row of this.rows(writer)) {
			const claim = this.byWriter.get(row.writer);
			if (claim && Number(row.key) === key) claim.hasLeft = true;
		}
	}

	/** A process is paused, or all of them: what it is busy with takes longer. */
	delay(ms: number, writer = ''): void {
		for (const [one, claim] of this.byWriter) {
			const isBusy = this.time.now() <= claim.busyUntil + LOSING_MS;
			if (isBusy && one.startsWith(writer)) claim.busyUntil += ms;
		}
	}

	/** True if another writer has inserted a row of this key a moment ago. It may have deleted that since. */
	private hadRival({ key, writer }: Row): boolean {
		return [...this.byWriter].some(
			([one, claim]) =>
				one !== writer && claim.key === key && this.time.now() <= claim.at + LOSING_MS,
		);
	}

	private rows(writer: string): Row[] {
		return this.table.rows
			.filter((row) => row.writer?.startsWith(writer) && row.status?.startsWith('sent'))
			.filter((row) => row.key && !row.generation_id);
	}
}
