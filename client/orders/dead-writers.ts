import { attempt } from '../async';
import type { BatchedTable } from './batched-table';
import type { KeyView } from './key-view';
import { asSeen, isOpenRow, SENT, silenceIn, silentStatus, type Row } from './table';

/** A writer is treated as dead when its row has not changed for this long. */
const GONE_AFTER_MS = 60_000;
/** How often a silent row is marked. If the waiting execution dies, the next one continues to count from the mark. */
const MARK_EVERY_MS = 20_000;

/**
 * Decides whether the writer of an open row is dead. If it is, its name is removed from the row, so that other executions
 * need not wait as well. If it may be, the row is marked with how long it has been silent.
 *
 * No clock of another machine is trusted: a row must be seen unchanged for a minute, by one execution or by several after
 * each other. A heartbeat of the writer starts the minute again.
 *
 * @returns `no effect` if the table answered and did not change the row
 */
export async function checkWriter(
	row: Row,
	view: KeyView,
	table: BatchedTable,
): Promise<'alive' | 'dead' | 'no effect'> {
	if (!view.isElsewhere(row)) return 'dead';
	const stillMs = view.stillMs(row);
	const silentMs = silenceIn(row) + stillMs;
	const isDead = silentMs >= GONE_AFTER_MS;
	if (!isDead && stillMs < MARK_EVERY_MS) return 'alive';
	const { id, key } = row;
	const set = isDead ? { writer: '', status: SENT } : { status: silentStatus(silentMs) };
	const changes = [{ where: asSeen(row), set, final: isDead }];
	const written = await attempt(async () => await table.run({ changes, keys: [key] }));
	if (!written.ok) return isDead ? 'dead' : 'alive';
	view.observe(key, written.value);
	const now = view.rows.get(key);
	if (now?.id === id && isOpenRow(now) && now.writer === '') return 'dead';
	const isSame = now?.writer === row.writer && now.status === row.status;
	return isSame ? 'no effect' : 'alive';
}
