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
const staleness = inFile('staleness.ts');

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
		"= ['id', 'writer', 'status', 'generation_id'] as const;",
		"= ['id'] as const;",
	),
	desk(
		'a row into which a user wrote an id is sent',
		"= ['id', 'writer', 'status', 'generation_id'] as const;",
		"= ['id', 'writer', 'status'] as const;",
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
	record(
		'after the timeout, what was not sent stays sent',
		'async () => await this.desk.write({ where, set, final: true }),\n\t\t\t);\n\t\t\tif (given.ok',
		'async () => await this.desk.write({ where, set }),\n\t\t\t);\n\t\t\tif (given.ok',
	),
	desk(
		'after the timeout, an id is not written down',
		'if (await this.writeId({ where: asSeen(row), set, final: true })) return;',
		'if (await this.writeId({ where: asSeen(row), set })) return;',
	),
	{
		...desk(
			'an answer that is not known means that no row was hit',
			'if (await this.writeId({ where: asSeen(row), set, final: true })) return;',
			'const hit = await this.writeId({ where: asSeen(row), set, final: true }).catch(() => false);\n\t\tif (hit) return;',
		),
		also: [
			desk(
				'',
				'const rows = await this.read(row.key);',
				'const rows = await this.read(row.key).catch((): RecordRow[] => []);',
			),
			desk(
				'',
				'await this.insert(fieldsOf({ ...row, ...set }));',
				'await this.insert(fieldsOf({ ...row, ...set })).catch(\n\t\t\tasync () => await this.insert(fieldsOf({ ...row, ...set })),\n\t\t);',
			),
		],
	},
	record(
		'a writer is heard of only once',
		'if (this.underWay.size > 0) {',
		'if (this.underWay.size < 0) {',
	),
	staleness(
		'the clock of another process is believed',
		'this.watched.set(row.id, { row, at: this.clock.now(), stillMs: 0 });',
		'const stillMs = this.clock.now() - (row.changedAt ?? Infinity) - 120_000;\n\t\t\tthis.watched.set(row.id, { row, at: this.clock.now(), stillMs });',
	),
	staleness(
		'who was paused has watched all the while',
		'Math.min(readFrom - before.at, LONGEST_GAP_MS)',
		'readFrom - before.at',
	),
	claims(
		'a row that never changes is written to for ever',
		'if (misses >= MOST_MISSES) throw',
		'if (misses < 0) throw',
	),
	claims('claims are settled for ever', 'if (round === MOST_ROUNDS)', 'if (round < 0)'),
	claims('a claim that a user has given an id is taken back', ", ['generation_id', ''])", ')'),
	rows(
		'a row with an unknown status is free',
		'=> !hasId(row) && row.status === CLAIMED;',
		'=> !hasId(row) && row.status !== SENT;',
	),
	record(
		'a request leaves although its row was taken over during a pause',
		'if (taken.ok && this.ports.clock.now() - from >= LATE_MS) {',
		'if (taken.ok && (false as boolean)) {',
	),
];
