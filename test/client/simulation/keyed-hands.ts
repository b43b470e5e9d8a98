import type { Row } from '../../../client/jobs/row';
import type { Deed } from './keyed-schedule';
import type { KeyedWorld } from './keyed-world';

const NO_SUCH_ID = '00000000-0000-4000-8000-';

/** Edits after which a row no longer shows that its request was sent: the key may be charged once more. */
const FREEING = new Set<Deed>(['delete', 'write the status failed']);

/** Applies the edit to a row of the key, if there is one. */
export function edit(world: KeyedWorld, key: number, deed: Deed, newest: boolean): void {
	const { table } = world;
	const rows = table.rows.filter((one) => one.key === String(key));
	const row = rows.at(newest ? -1 : 0);
	if (!row) return;
	world.tell(`the user: ${deed} in row ${row.id} of key ${key} (${row.status})`);
	world.deeds++;
	expect(world, key, deed, row);
	if (deed === 'delete') table.rows.splice(table.rows.indexOf(row), 1);
	else if (deed === 'copy') table.copy(row);
	else if (deed === 'write the id') {
		const [lost, ...others] = world.live(key).filter((id) => !world.durable(key).includes(id));
		if (lost === undefined || row.generation_id) return;
		table.edit(row, { generation_id: ` ${lost}\n` });
		// The row no longer shows that there may be more generations.
		others.forEach(() => world.permit(key));
		// The user has marked another row of this generation as failed: this one does not count, either.
		const isMarked = table.rows.some(
			(one) => one.generation_id === lost && one.status === 'failed',
		);
		if (isMarked) free(world, key);
	} else if (deed === 'write an id that does not exist') {
		// A different id in each row: two rows with one id are one generation, and if it failed, neither counts as
		// paid.
		table.edit(row, { generation_id: `${NO_SUCH_ID}${String(row.id).padStart(12, '0')}` });
	} else table.edit(row, { status: 'failed' });
}

/** Notes what is to be expected of the key from now on. */
function expect(world: KeyedWorld, key: number, deed: Deed, row: Row): void {
	if (deed === 'write an id that does not exist') world.misled.add(key);
	if (FREEING.has(deed)) free(world, key);
	if (deed === 'copy') world.copied.add(key);
	// A copy of a row without an id is misleading.
	if (deed === 'copy' && !row.generation_id) world.unsure.add(key);
}

function free(world: KeyedWorld, key: number): void {
	world.freed.add(key);
	world.permit(key);
}
