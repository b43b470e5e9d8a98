import type { Mutation } from './mutations';

/** Ways to break what outlives the process, for the schedules with keys. */
const inFile =
	(file: string) =>
	(name: string, from: string, to: string): Mutation => ({
		name,
		file: `client/paying/${file}`,
		from,
		to,
	});

const book = inFile('order-book.ts');
const record = inFile('record.ts');
const claims = inFile('claims.ts');
const desk = inFile('record-desk.ts');
const rows = inFile('record-rows.ts');

export const recordMutations: Mutation[] = [
	book(
		'the request leaves before the row says so',
		'if (record !== null && !(await record.send(key, order, open, about))) return null;',
		'if (record !== null) void record.send(key, order, open, about).catch(() => false);',
	),
	book(
		'a refusal frees a row that was open',
		'if (!isOpen(ledger.find(order.key))) await',
		'await',
	),
	record(
		'what became open meanwhile is sent all the same',
		'if (!isFree(row) && !(open && sameState(row, open))) return false;',
		'',
	),
	desk(
		'the id is not written down',
		'if (await this.writeId({ where: asSeen(row), set, final: true })) return;',
		'return;',
	),
	record(
		'a refusal frees a row that another had left open',
		'if (this.underWay.get(key)?.wasOpen)',
		'if (false as boolean)',
	),
	record(
		'a refusal leaves the row as sent',
		'await this.giveBack(key, { status: CLAIMED, writer: this.claims.ticket() });',
		'',
	),
	record(
		'two items of a step with one key both send',
		'return !before.leaving && before.holder === holder;',
		'return true;',
	),
	record(
		'who has lost the race sends all the same',
		'if (taken.ok && !taken.value) {',
		'if (false as boolean) {',
	),
	claims(
		'another’s request is not waited for',
		'if (this.staleness.stillMs(row) < GONE_AFTER_MS) return false;',
		'',
	),
	record(
		'any end is that of the newest generation',
		'if (row?.generation_id !== id) return;',
		'if (!row) return;',
	),
	claims(
		'several claims of a key are used as they are',
		'if (!surplus(found[index]).every(({ id }) => removed.has(id))) again.push(key);\n\t\t\t\telse if (row)',
		'if (row)',
	),
	claims(
		'what was read replaces what was done since',
		'if (this.isAhead(key) || this.rows.get(key) !== before[index]) return;',
		'',
	),
	desk(
		'a row is known by its id alone',
		"return all(['id', id], ['writer', writer], ['status', status]);",
		"return void writer, void status, all(['id', id]);",
	),
	desk(
		'a claim is sent whether it is there or not',
		'return claims.map(({ id }) => hits.has(id));',
		'return claims.map(() => hits.size >= 0);',
	),
	rows(
		'what is on record is not taken up',
		"=> row.status !== 'failed';",
		"=> row.status !== 'failed' && !hasId(row);",
	),
	rows('a claim counts before what was sent', 'isFree(row) ? 2 : 1', 'isFree(row) ? 1 : 2'),
];
