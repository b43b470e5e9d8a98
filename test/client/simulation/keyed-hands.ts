import type { Row, RowFields } from '../../../client/jobs/row';
import type { Deed } from './keyed-schedule';
import type { KeyedWorld } from './keyed-world';

/** A cell without a value, which no comparison matches. */
const NULL = null as unknown as string;

const NO_SUCH_ID = '00000000-0000-4000-8000-';

/** The cells that an edit changes. */
const EDITS: Partial<Record<Deed, Partial<RowFields>>> = {
	'empty everything': {
		key: NULL,
		workflow_id: NULL,
		node_id: NULL,
		execution_id: NULL,
		generation_id: NULL,
		status: NULL,
		writer: NULL,
	},
	'empty the key': { key: NULL },
	'empty the id': { generation_id: NULL },
	'empty the writer': { writer: NULL },
	'empty the status': { status: NULL },
	'write another writer': { writer: 'somebody' },
	'write the status failed': { status: 'failed' },
	'write an unknown status': { status: 'done' },
};

/** Edits after which a row no longer shows that its request was sent: the key may be charged once more. */
const FREEING = new Set<Deed>([
	'delete',
	'empty everything',
	'empty the key',
	'write the status failed',
]);

/** Applies the edit to a row of the key, if there is one. */
export function edit(world: KeyedWorld, key: number, deed: Deed, newest: boolean): void {
	const { table } = world;
	const rows = table.rows.filter((one) => one.key === String(key));
	const row = rows.at(newest ? -1 : 0);
	if (!row) return;
	world.note('edit', `the user: ${deed} in row ${row.id} of key ${key} (${row.status})`);
	world.deeds++;
	expect(world, key, deed, row);
	if (deed === 'delete') table.rows.splice(table.rows.indexOf(row), 1);
	else if (deed === 'copy') table.copy(row);
	else if (deed === 'export and import') rows.forEach(emptyToNull);
	else if (deed === 'write the id') {
		const [lost, ...others] = world.live(key).filter((id) => !world.durable(key).includes(id));
		if (lost === undefined || row.generation_id) return;
		table.edit(row, { generation_id: ` ${lost}\n` });
		// The row no longer shows that there may be more generations.
		others.forEach(() => world.permit(key));
	} else if (deed === 'write an id that does not exist') {
		// A different id in each row: two rows with one id are one generation, and if it failed, neither counts as
		// paid.
		table.edit(row, { generation_id: `${NO_SUCH_ID}${String(row.id).padStart(12, '0')}` });
	} else table.edit(row, EDITS[deed] ?? {});
}

/** Notes what is to be expected of the key from now on. */
function expect(world: KeyedWorld, key: number, deed: Deed, row: Row): void {
	const isMade = Boolean(row.generation_id);
	if (deed.startsWith('e') && !world.schedule.findsNull) world.stuck.add(key);
	if (deed === 'write an id that does not exist') world.misled.add(key);
	if (FREEING.has(deed)) {
		world.freed.add(key);
		world.permit(key);
		return;
	}
	if (deed === 'copy') world.copied.add(key);
	if (deed === 'export and import' || deed === 'write the id') return;
	// The row contains too little information, or a copy of it is misleading.
	if (deed === 'copy' && !isMade) world.unsure.add(key);
	if (deed === 'empty the id' && isMade) world.permit(key);
	if (deed.endsWith('status') && !isMade) world.unsure.add(key);
	if (deed.endsWith('writer') && !isMade) world.unsure.add(key);
	if (!isMade && deed === 'empty the writer') world.permit(key);
	if (deed === 'empty the id') world.unsure.add(key);
}

function emptyToNull(row: Row): void {
	for (const [name, value] of Object.entries(row)) {
		if (value === '') Object.assign(row, { [name]: NULL });
	}
}
