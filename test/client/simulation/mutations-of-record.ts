import { inFile, type Mutation } from './mutations';

const journal = inFile('orders/table-journal.ts');
const keyRow = inFile('orders/key-row.ts');
const staleness = inFile('orders/staleness.ts');
const batched = inFile('orders/batched-table.ts');
const table = inFile('orders/table.ts');
const jobRun = inFile('job-run.ts');
const pipeline = inFile('pipeline.ts');

/** Ways to break what outlives the process, for the schedules with keys. */
export const recordMutations: Mutation[] = [
	keyRow(
		'the request leaves before its row exists',
		'return await this.contend(held, part);',
		'void this.contend(held, part).catch(() => null);\n\t\treturn held;',
	),
	journal(
		'a rejection frees an unresolved row',
		'if (order.key !== null && !staysUnresolved)',
		'if (order.key !== null)',
	),
	journal(
		'an order that was paid before it had a key is written for a failed generation',
		'row === null && !keyRow.failed.has(entry.id);',
		'row === null;',
	),
	keyRow(
		'the row is not read again before a request is resubmitted',
		'return await this.contend(held, {});',
		'return held;',
	),
	keyRow(
		'a row that became unresolved meanwhile is sent again',
		'if (row && !isFree(row) && row !== this.resendable) return null;',
		'',
	),
	batched(
		'the id is not written',
		'const changes = [{ where, set, final: true }];\n\t\t\tconst { rows }',
		'const changes = [{ where, set: {}, final: true }];\n\t\t\tconst { rows }',
	),
	batched(
		'a row that was inserted twice stays twice',
		'if (twins.size === 0) return rows;',
		'if (twins.size >= 0) return rows;',
	),
	keyRow(
		'a rejection deletes a row that another execution left unresolved',
		'const staysUnresolved = wasUnresolved || (mayBeCharged && isSending);',
		'const staysUnresolved = mayBeCharged && isSending;',
	),
	keyRow(
		'a rejection leaves the row as sent',
		'void table.keep(async () => await table.run({ changes }));',
		'void changes;',
	),
	keyRow(
		'an execution sends although another row is there',
		"if (ours && result === 'won' && !isExpired) {",
		'if (ours && !isExpired) {',
	),
	table(
		'of two new rows, the newer one wins as well',
		"if (rivals.some((row) => hasId(row) || row.id < ours.id)) return 'lost';",
		"if (rivals.some(hasId)) return 'lost';\n\tif (rivals.some((row) => row.id < ours.id)) return 'won';",
	),
	keyRow(
		'an execution sends although its row is not there',
		"if (ours && result === 'won' && !isExpired) {",
		"if (result === 'missing' && !isExpired) return held;\n\t\t\tif (ours && result === 'won' && !isExpired) {",
	),
	keyRow('a late read replaces what was done since', 'if (this.held || this.arriving) return;', ''),
	table(
		'a row is known by its id alone',
		'return all(...COMPARED.map(',
		"return all(...(['id'] as const).map(",
	),
	table(
		'a recorded generation is not reused',
		"isLive = ({ status }: { status?: string }) => status !== 'failed';",
		"isLive = (row: Partial<Row>) => row.status !== 'failed' && !row.generation_id;",
	),
	keyRow(
		'after the timeout, a row that was not sent stays',
		'const changes = [{ where, set, final: true }];',
		'const changes = [{ where, set }];',
	),
	batched(
		'after the timeout, an id is not written',
		'const changes = [{ where, set, final: true }];\n\t\t\tconst { rows }',
		'const changes = [{ where, set }];\n\t\t\tconst { rows }',
	),
	journal(
		'a writer sends no heartbeat',
		'if (rows.some(([, { held }]) => held)) void this.table.beat();',
		'',
	),
	staleness(
		'the clock of another process is believed',
		'} else this.seen = { row, readAt, at: now, unchangedMs: 0 };',
		'} else this.seen = { row, readAt, at: now, unchangedMs: now - (row.changedAt ?? Infinity) - 120_000 };',
	),
	staleness(
		'a read that several calls share counts twice',
		'if (before?.readAt === readAt) return;',
		'',
	),
	staleness(
		'a pause of the own process counts',
		'Math.min(readAt - before.at, LONGEST_GAP_MS)',
		'readAt - before.at',
	),
	batched(
		'a heartbeat does not end the silence of a row',
		'const changes = [{ where, set: { status: SENT }, final: true }];',
		'const changes = [{ where, set: {}, final: true }];',
	),
	keyRow(
		'a row that never changes is written to for ever',
		'if (this.misses < MOST_MISSES) return;',
		'if (this.misses > 0) return;',
	),
	keyRow(
		'a row that a user has given an id is deleted',
		"const where = all(['writer', row.writer], ['generation_id', '']);",
		"const where = all(['writer', row.writer]);",
	),
	keyRow(
		'a request leaves although its row was abandoned during a pause',
		'const isExpired = ageMs >= MAX_READ_AGE_MS;',
		'const isExpired = false as boolean;',
	),
	keyRow(
		'two failed generations have one header',
		'this.failures = failed.length;',
		'this.failures = 0;',
	),
	keyRow(
		'a row that was reserved ahead stays as sent if its request is not sent',
		'const staysUnresolved = wasUnresolved || (mayBeCharged && isSending);',
		'const staysUnresolved = wasUnresolved || mayBeCharged;',
	),
	journal(
		'an item without a key is not stored with its execution',
		'if (key === null) return await super.reserve(order);',
		"if (key === null) return 'the same for all';",
	),
	journal(
		'an item without a key is explained by the row of another one',
		'return (key === null ? null : this.rowOf(key).row) ?? null;',
		'return this.rowOf(key ?? [...this.rows.keys()][0]).row ?? null;',
	),
	jobRun(
		'two calls of an execution send the same order at once',
		'await withLock(journal.shared, order.lock, obtain)',
		'await withLock(journal, order.lock, obtain)',
	),
	pipeline(
		'two calls of an execution reserve ahead what the other one needs',
		'if (!preparesAhead || !journal.prepare) return false;',
		'if (!journal.prepare) return false;',
	),
	jobRun(
		'an item that was reserved ahead stays as sent after an error of the step',
		'this.abandoned.push(...this.waiting.map(async (run) => await run.abandon()));',
		'',
	),
	jobRun(
		'an item that is being reserved when the step ends is not given back',
		'const result = await prepared;\n\t\tif (result?.ok && result.value)',
		'const result = await Promise.race([prepared, null]);\n\t\tif (result?.ok && result.value)',
	),
	jobRun(
		'an item that waits too long after it was reserved ahead is not given back',
		'if (this.waiting.includes(run)) this.abandoned.push(run.abandon());',
		'',
	),
];
