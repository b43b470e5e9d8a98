/** A way to break a promise: in `file`, what stands as `from` becomes `to`. */
export interface Edit {
	file: string;
	from: string;
	to: string;
}

/** What is watched over in several places is broken in all of them. */
export interface Mutation extends Edit {
	name: string;
	also?: Edit[];
}

/** Ways to break one file. */
export const inFile =
	(file: string, folder = 'client') =>
	(name: string, from: string, to: string): Mutation => ({
		name,
		file: `${folder}/${file}`,
		from,
		to,
	});

const submission = inFile('orders/submission.ts');
const retry = inFile('api/retry.ts');
const slots = inFile('orders/slot-pool.ts');
const journal = inFile('orders/journal.ts');
const table = inFile('orders/table.ts');
const header = inFile('orders/journal.ts');
const service = inFile('api/client.ts');
const errors = inFile('api/errors.ts');
const errorTable = inFile('api/error-table.ts');
const connection = inFile('api/connection.ts');
const outcome = inFile('outcome.ts');
const pipeline = inFile('pipeline.ts');
const jobRun = inFile('job-run.ts');
const job = inFile('job.ts');
const guard = inFile('spend-guard.ts');
const watch = inFile('watch/watch.ts');
const statusRequests = inFile('watch/status-requests.ts');

const watchOverHalt: Edit = watch(
	'',
	'await pause(clock, at - clock.now(), halt);',
	'await clock.sleep(Math.max(0, at - clock.now()));',
);

export const mutations: Mutation[] = [
	journal(
		'nothing is reserved before the request',
		'entry.sent = (entry.sent ?? sentElsewhere) + 1;',
		'void sentElsewhere;',
	),
	submission(
		'the reservation is released after a lost response',
		'if (reserved && isUncharged(error))',
		'if (reserved)',
	),
	submission(
		'a rejection leaves the reservation behind',
		'if (reserved && isUncharged(error)) journal.release(order);',
		'',
	),
	submission('an existing generation is not reused', 'return entry.id;', ''),
	submission(
		'an unresolved request is sent again',
		"if (entry.state === 'sent' && !this.mayResend(",
		"if ((false as boolean) && entry.state === 'sent' && !this.mayResend(",
	),
	submission(
		'a refusal makes one forget what was lost before',
		"if (entry.state !== 'sent') return error;",
		"if (entry.state !== 'sent' || error !== cause || cause.charge !== 'unknown') return error;",
	),
	slots('sent although it will be refused', 'this.closed.throwIfAborted();', ''),
	submission(
		'sent although every request of the step will be refused',
		'if (refusal?.fatalForStep) gate.close(notSent(refusal, order.job));',
		'',
	),
	submission(
		'a lost answer is sent again unasked',
		"return onUncertainCharge === 'resubmit' && this.lostOf",
		'return Boolean(onUncertainCharge) && this.lostOf',
	),
	retry(
		'an uncertain request is tried again by itself',
		"if (charge === 'unknown') return mayResend && inTime ? 'resend' : 'stop';\n\tif (charge !== 'none') return 'stop';",
		"if (charge === 'unknown' && mayResend && inTime) return 'resend';",
	),
	retry('no free slot is an error', "return 'slot';", "return 'stop';"),
	slots(
		'a stop leaves those who wait for a slot waiting',
		'onAbort(halt, () => this.close(new CancelledError()));',
		'void onAbort;',
	),
	slots(
		'after a refusal nobody asks for a slot again',
		'if (!this.speculation) this.speculateAt = this.nextSpeculation();',
		'this.speculateAt = this.ports.clock.now() + 1e9;',
	),
	journal(
		'a rejection releases the reservation of an earlier request',
		'if (entry.sent > 1) entry.sent--;\n\t\telse {',
		'{',
	),
	journal(
		'the id is not recorded',
		'Object.assign(entry, { id, ...(status !== null && { status }) });',
		'void [entry, id, status];',
	),
	journal(
		'the reservation is not stored with the execution',
		'return (this.shared[this.runIndex] ??= {});',
		"return (this.shared[this.runIndex] ??= Object.defineProperty({}, 'toJSON', { value: () => ({}) }));",
	),
	journal(
		'equal requests of two items are one',
		'return this.ordersOfRun[outputName(output)] ?? [];',
		'return Object.values(this.ordersOfRun).flat().slice(0, output.itemIndex + 99);',
	),
	journal(
		'two outputs of an item are one',
		'return this.ordersOfRun[outputName(output)] ?? [];',
		'return this.ordersOfRun[outputName({ ...output, outputIndex: 0 })] ?? [];',
	),
	journal(
		'a status is kept for an id',
		'Object.assign(entry, { id, ...(status',
		'Object.assign(entry, { ...(status',
	),
	journal(
		'an earlier try is forgotten by one that did not come so far',
		'return paidIn(counted).at(-1) ?? null;',
		'return paidIn(counted).at(-1) && null;',
	),
	header(
		'an order has another name in every try',
		'failures, request]));',
		'failures, request, Math.random()]));',
	),
	journal(
		'equal orders of two items have one name',
		'const owner = [this.execution, this.runIndex, outputName(order.job)];',
		'const owner = [this.execution, this.runIndex];',
	),
	table('a request is never the same twice', 'update(text)', 'update(text + Math.random())'),
	service(
		'a lost answer counts as cancelled',
		'if (stop.aborted && !charging) throw',
		'if (stop.aborted) throw',
	),
	{
		...service(
			'requests leave after the stop',
			'if (stop.aborted) throw new CancelledError();\n\t\tconst response',
			'const response',
		),
		also: [watchOverHalt],
	},
	errors(
		'every 5xx is certain',
		'const uncertain = charging &&',
		'const uncertain = (false as boolean) && charging &&',
	),
	errorTable(
		'a rejected API key leaves the charge unknown',
		'return status >= 500 ||',
		'return status === 401 || status >= 500 ||',
	),
	errors(
		'a gateway’s error counts as the service’s',
		'&& !errorBody?.listed',
		'&& errorBody === null',
	),
	errors(
		'an unreadable answer is certain',
		"charge: charging ? 'unknown' : 'none',",
		"charge: 'none',",
	),
	errorTable(
		'any text code and type count as the service’s',
		"return type === 'server_error' && BY_CODE[String(code)]?.status === status;",
		"return typeof code === 'string' && typeof type === 'string';",
	),
	errorTable(
		'a code counts whatever its status',
		'BY_CODE[String(code)]?.status === status',
		'BY_CODE[String(code)]?.status !== undefined',
	),
	errorTable('a code counts whatever its type', "type === 'server_error' && ", ''),
	connection('a reset is certain', '[/^ECONNREFUSED$/', '[/^(ECONNREFUSED|ECONNRESET)$/'),
	connection(
		'a host that is lost midway is certain',
		'if (wasConnected ?? !row) return null;',
		'if (!row) return null;',
	),
	connection('a timeout is certain', '[/^ECONNREFUSED$/', '[/^(ECONNREFUSED|ECONNABORTED)$/'),
	connection(
		'a broken connection is certain',
		"charge: charging ? 'unknown' : 'none',",
		"charge: 'none',",
	),
	outcome(
		'an error does not name its generation',
		'return known.with({ generation, charge:',
		'return known.with({ charge:',
	),
	outcome(
		'a stop forgets the id',
		"return { kind: 'stopped', generation };",
		"return { kind: 'stopped', generation: null };",
	),
	jobRun(
		'a generation whose status check fails is created again',
		'if (!seen.ok) throw error;',
		'if (!seen.ok) {\n\t\t\t\tfor (const key of Object.keys(this.step.journal.shared)) delete (this.step.journal.shared as Record<string, unknown>)[key];\n\t\t\t\tcontinue;\n\t\t\t}',
	),
	outcome(
		'a generation that ended otherwise counts as refunded',
		"code: 'generation_ended',\n\t\tcharge: 'paid',",
		"code: 'generation_ended',\n\t\tcharge: 'refunded',",
	),
	submission(
		'Retry-After of a creating request is ignored',
		'if (refusal) hold.note(refusal);',
		'void refusal;',
	),
	watch(
		'Retry-After of a status check is ignored',
		'this.watcher.requests.hold.note(error);',
		'void error;',
	),
	jobRun(
		'a reused generation is created again after its timeout',
		'this.commit();\n\t\t\tif (!watch.generation ||',
		'this.commit();\n\t\t\tif (!watch.generation) {\n\t\t\t\tfor (const key of Object.keys(journal.shared)) delete (journal.shared as Record<string, unknown>)[key];\n\t\t\t\tcontinue;\n\t\t\t}\n\t\t\tif (!watch.generation ||',
	),
	jobRun(
		'a failed generation is reused',
		'if (!watch.generation || !isFailed(watch.generation)) {',
		'if (true as boolean) {',
	),
	job(
		'another model is tried although the first may have been charged',
		"(charge === 'none' && isAboutModel)",
		"(charge !== 'paid')",
	),
	job(
		'a failed generation is created again without end',
		'tried.failed <= retriesOnFailure',
		'retriesOnFailure > 0',
	),
	guard(
		'the limit of new generations counts what is certain only',
		'if (!mayBeCharged) this.spent--;',
		'if (!mayBeCharged || this.inFlight > 0) this.spent--;',
	),
	guard('the balance is read once', 'age >= 0 && age < BALANCE_INTERVAL_MS', 'this.readAt > 0'),
	pipeline('sent although the step has failed', 'halt, guard', 'halt: ports.cancel, guard'),
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
	jobRun(
		'a timeout is handed on',
		"if (job.onTimeout === 'error') throw",
		'if (false as boolean) throw',
	),
	{
		...watch(
			'the status is asked for more often than the interval',
			'this.earliestAt = request.at + watcher.intervalMs;',
			'this.earliestAt = request.at + watcher.intervalMs / 2;',
		),
		also: [
			statusRequests(
				'',
				'Math.abs(now - at) < this.intervalMs :',
				'now < at + this.intervalMs / 2 :',
			),
		],
	},
	watch(
		'the waiting goes on after the stop',
		'await pause(clock, at - clock.now(), halt);',
		'await clock.sleep(Math.max(0, at - clock.now()));\n\t\t\tawait pause(clock, 0, halt);',
	),
	statusRequests(
		'a status check outlasts the deadline',
		'withTimeout(clock, deadline - now, halt,',
		'withTimeout(clock, 3_600_000, halt,',
	),
	watch(
		'what is there counts as done',
		"if (this.readiness !== 'outputUrl')",
		'if (false as boolean)',
	),
	{
		...watch(
			'probes leave after the stop',
			'await pause(clock, Math.min(at, deadline) - now, halt);',
			'await clock.sleep(Math.min(at, deadline) - now);',
		),
		also: [watchOverHalt, watch('', "if (halt.aborted) return 'unusable';", '')],
	},
];
