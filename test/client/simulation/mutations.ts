/** A way to break a promise: in `file`, what stands as `from` becomes `to`. */
export interface Mutation {
	name: string;
	file: string;
	from: string;
	to: string;
}

const inFile =
	(file: string) =>
	(name: string, from: string, to: string): Mutation => ({
		name,
		file: `client/${file}`,
		from,
		to,
	});

const submission = inFile('paying/submission.ts');
const service = inFile('wire/service.ts');
const errors = inFile('wire/errors.ts');
const connection = inFile('wire/connection.ts');
const ledger = inFile('paying/ledger.ts');
const outcome = inFile('jobs/outcome.ts');
const pipeline = inFile('pipeline.ts');
const gate = inFile('paying/slot-gate.ts');

export const mutations: Mutation[] = [
	submission('no intent before the request', 'ledger.intend(key);', ''),
	submission(
		'the intent is taken back after a lost answer',
		'if (!open && notCharged) ledger',
		'if (!open) ledger',
	),
	submission(
		'a refusal takes back the intent of an earlier request',
		'if (!open && notCharged) ledger',
		'if (notCharged) ledger',
	),
	submission(
		'a refusal leaves the intent behind',
		'if (!open && notCharged) ledger.withdraw(key);',
		'',
	),
	submission('the id is not recorded', 'ledger.record(key, tried.value);', ''),
	submission(
		'what exists is not taken up',
		"if (entry?.id && entry.status !== 'failed') {",
		'if (false as boolean && entry?.id) {',
	),
	submission(
		'what cannot be looked at is made anew',
		'await this.takeUp(key, entry.id);',
		'await this.takeUp(key, entry.id).catch(() => null);',
	),
	submission('what has failed is taken up', 'if (isFailed(generation)) return null;', ''),
	submission(
		'an open request is sent again',
		"if (entry && !entry.id && job.onUncertainCharge === 'error') throw",
		'if (false as boolean) throw',
	),
	submission(
		'a lost answer is sent again unasked',
		"if (!again || job.onUncertainCharge === 'error' ||",
		'if (!again ||',
	),
	submission(
		'a refusal makes one forget what was lost before',
		'if (!ledger.isOpen(key)) throw error;',
		"if (errorOfJob(error, null).charge !== 'unknown') throw error;",
	),
	submission(
		'sent although it will be refused',
		'if (this.closedBy) throw notSent(this.closedBy.error, this.closedBy.itemIndex);',
		'',
	),
	submission(
		'sent although the step has failed',
		'if (halt.aborted) throw new CancelledError();',
		'',
	),
	service(
		'an uncertain request is tried again by itself',
		"error.retry === 'backoff' && error.charge === 'none'",
		"error.retry === 'backoff'",
	),
	service(
		'a lost answer counts as cancelled',
		'if (signal.aborted && !charging) throw',
		'if (signal.aborted) throw',
	),
	service(
		'requests leave after the stop',
		'if (signal.aborted) throw new CancelledError();\n\t\tconst response',
		'const response',
	),
	errors('every 5xx is certain', 'const uncertain = charging &&', 'const uncertain = false &&'),
	errors('a gateway’s error counts as the service’s', '&& !own?.complete', '&& own === null'),
	errors('an unreadable answer is certain', "charge: charging ? 'unknown' : 'none',", ''),
	connection(
		'a reset is certain',
		'const NEVER_SENT = new Set([',
		"const NEVER_SENT = new Set([\n\t'ECONNRESET',",
	),
	connection(
		'a host that is lost midway is certain',
		'phase === null && code !== null',
		'code !== null',
	),
	connection(
		'a timeout is certain',
		'const NEVER_SENT = new Set([',
		"const NEVER_SENT = new Set([\n\t'ECONNABORTED',",
	),
	connection(
		'a broken connection is certain',
		"charge: charging ? 'unknown' : 'none',",
		"charge: 'none',",
	),
	ledger(
		'the intent is not saved with the execution',
		'this.entries[key] = {};',
		'Object.defineProperty(this.entries, key, { value: {}, writable: true, configurable: true });',
	),
	ledger(
		'equal requests of two items are one',
		'const item = this.prefix(itemIndex);',
		'const item = this.prefix(0);',
	),
	ledger('a request is never the same twice', 'update(text)', 'update(text + Math.random())'),
	ledger(
		'a status is kept for an id',
		'this.entries[key] = { id, status };',
		'this.entries[key] = { status };',
	),
	ledger(
		'an earlier try is forgotten by one that did not come so far',
		"if (id !== undefined && status !== 'failed') return { id, status };",
		'',
	),
	outcome(
		'an error does not name its generation',
		'return known.with({ generation, charge:',
		'return known.with({ charge:',
	),
	outcome('a generation that was seen does not exist', ' && generation.status === undefined', ''),
	outcome(
		'a stop forgets the id',
		"return { kind: 'stopped', generation };",
		"return { kind: 'stopped', generation: null };",
	),
	pipeline(
		'more at once than asked for',
		'Math.min(this.settings.maxConcurrent, this.jobs.length)',
		'this.jobs.length',
	),
	pipeline(
		'outcomes in the order of their coming',
		'this.jobs.map((job) => this.outcomes.get(job) ?? this.stopped(job))',
		'[...this.outcomes.values(), ...this.jobs.filter((job) => !this.outcomes.has(job)).map((job) => this.stopped(job))]',
	),
	pipeline(
		'the first error does not end the step',
		'if (this.settings.stopOnError) this.halt.abort();',
		'',
	),
	pipeline(
		'twice as many looks',
		'Math.min(delay, deadline - now)',
		'Math.min(delay, deadline - now) / 2',
	),
	pipeline(
		'the waiting goes on after the stop',
		'await clock.sleep(Math.min(delay, deadline - now), this.halt);\n\t\t\tif (this.halt.aborted) throw new CancelledError();',
		'await clock.sleep(Math.min(delay, deadline - now));',
	),
	pipeline(
		'a timeout is handed on',
		"if (this.job.onTimeout === 'error') throw",
		'if (false as boolean) throw',
	),
	gate('no free slot is an error', "error.retry !== 'slot'", 'true'),
];
