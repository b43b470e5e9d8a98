import { inFile, type Mutation } from './mutations';

const journal = inFile('orders/table-journal.ts');
const keys = inFile('orders/key-table.ts');
const reservations = inFile('orders/reservations.ts');
const view = inFile('orders/key-view.ts');
const batched = inFile('orders/batched-table.ts');
const table = inFile('orders/table.ts');
const jobRun = inFile('job-run.ts');
const pipeline = inFile('pipeline.ts');

/** Ways to break what outlives the process, for the schedules with keys. */
export const recordMutations: Mutation[] = [
	journal(
		'the request leaves before its row exists',
		'if (!(await this.table.reserve(key, order, { ...fields, request }, { resend }))) return null;',
		'void this.table.reserve(key, order, { ...fields, request }, { resend }).catch(() => false);',
	),
	journal(
		'a rejection frees an unresolved row',
		'if (order.key !== null && !staysUnresolved)',
		'if (order.key !== null)',
	),
	journal(
		'an order that was paid before it had a key is written for a failed generation',
		'row === null && !this.table.view.failed.has(entry.id);',
		'row === null;',
	),
	reservations(
		'the row is not read again before a request is resubmitted',
		'return await this.contend(key, held, {});',
		'return true;',
	),
	reservations(
		'a row that became unresolved meanwhile is sent again',
		'if (row && !isFree(row) && !(resend && !hasId(row) && sameState(row, resend))) return false;',
		'',
	),
	batched(
		'the id is not written',
		'const changes = [{ where, set, final: true }];\n\t\t\tconst { rows }',
		'const changes = [{ where, set: {}, final: true }];\n\t\t\tconst { rows }',
	),
	reservations(
		'a rejection deletes a row that another execution left unresolved',
		'const staysUnresolved = wasUnresolved || (mayBeCharged && isSending);',
		'const staysUnresolved = mayBeCharged && isSending;',
	),
	reservations(
		'a rejection leaves the row as sent',
		'void this.table.keep(async () => await this.table.run({ changes }));',
		'void changes;',
	),
	reservations(
		'an execution sends although another row is there',
		'if (ourRow && rivals.length === 0 && !isExpired) {',
		'if (ourRow && !isExpired) {',
	),
	reservations(
		'an execution sends although its row is not there',
		'if (ourRow && rivals.length === 0 && !isExpired) {',
		'if (rivals.length === 0 && !isExpired) {\n\t\t\t\tif (!ourRow) return true;',
	),
	view('a late read replaces what was done since', 'if (this.isNewerInMemory(key)) return;', ''),
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
	reservations(
		'after the timeout, a row that was not sent stays',
		'const changes = [{ where, set, final: true }];',
		'const changes = [{ where, set }];',
	),
	batched(
		'after the timeout, an id is not written',
		'const changes = [{ where, set, final: true }];\n\t\t\tconst { rows }',
		'const changes = [{ where, set }];\n\t\t\tconst { rows }',
	),
	keys('a writer sends no heartbeat', 'this.reservations.beat();', ''),
	view(
		'the clock of another process is believed',
		'this.silent.set(row.id, { row, at: this.clock.now(), unchangedMs: 0 });',
		'const unchangedMs = this.clock.now() - (row.changedAt ?? Infinity) - 120_000;\n\t\t\tthis.silent.set(row.id, { row, at: this.clock.now(), unchangedMs });',
	),
	view(
		'a pause of the own process counts',
		'Math.min(readAt - before.at, LONGEST_GAP_MS)',
		'readAt - before.at',
	),
	reservations(
		'a heartbeat does not end the silence of a row',
		'void this.table.beat({ where, set: { status: SENT }, final: true });',
		'void this.table.beat({ where, set: {}, final: true });',
	),
	view(
		'a row that never changes is written to for ever',
		'if (misses < MOST_MISSES) return;',
		'if (misses > 0) return;',
	),
	reservations(
		'a row that a user has given an id is deleted',
		"const where = all(['writer', row.writer], ['generation_id', '']);",
		"const where = all(['writer', row.writer]);",
	),
	reservations(
		'a request leaves although its row was abandoned during a pause',
		'const isExpired = ageMs >= MAX_READ_AGE_MS;',
		'const isExpired = false as boolean;',
	),
	view(
		'two failed generations have one header',
		'this.failures.set(key, failed.length);',
		'this.failures.set(key, 0);',
	),
	reservations(
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
		'return (key === null ? null : this.table.view.rows.get(key)) ?? null;',
		'return this.table.view.rows.get(key ?? [...this.table.view.rows.keys()][0]) ?? null;',
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
