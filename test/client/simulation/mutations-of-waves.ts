import { inFile, type Mutation } from './mutations';

const wave = inFile('wave-plan.ts', 'nodes/shared/suspend');
const result = inFile('wave-result.ts', 'nodes/shared/suspend');
const pipeline = inFile('pipeline.ts');
const table = inFile('orders/table.ts');
const service = inFile('api/client.ts');
const errors = inFile('api/errors.ts');
const keyRow = inFile('orders/key-row.ts');
const batched = inFile('orders/batched-table.ts');
const submission = inFile('orders/submission.ts');

/** Ways to break a batch that sleeps, for the schedules whose waves die. */
export const waveMutations: Mutation[] = [
	wave(
		'a wave does not count what was spent',
		'spentBefore: Math.max(spent, spentBy(all.filter(isOwnRow)) + resubmitted)',
		'spentBefore: 0',
	),
	wave(
		'what a wave spent that died is not counted',
		'spentBefore: Math.max(spent, spentBy(all.filter(isOwnRow)) + resubmitted)',
		'spentBefore: spent',
	),
	wave(
		'what a wave tried that died is not counted',
		'if (length <= (tried?.failed ?? 0)) return tried;',
		'if (length >= 0) return tried;',
	),
	wave(
		'what is sent again hides what a wave spent that died',
		'spentBy(all.filter(isOwnRow)) + resubmitted',
		'spentBy(all.filter(isOwnRow))',
	),
	wave(
		'a failed generation of a wave that died is not counted',
		'spentBy(all.filter(isOwnRow))',
		'spentBy(all.filter(isOwnRow).filter(isLive))',
	),
	table(
		'an item is created again although its row has an id',
		"=> status !== 'failed';",
		"=> status !== 'failed' && status !== 'pending' && status !== 'processing';",
	),
	{
		...pipeline(
			'a stop does not end what is awake',
			'const forget = onAbort(cancel, stop);',
			'const forget = onAbort(cancel, () => undefined);',
		),
		also: [
			service(
				'',
				'if (stop.aborted) throw new CancelledError();\n\t\tconst response',
				'const response',
			),
			keyRow('', 'if (ports.signal.aborted) throw new CancelledError();', ''),
		],
	},
	result(
		'the end of a generation of an earlier wave is not written',
		"if (jobs[index].kind === 'collect' && ended)",
		"if (jobs[index].kind === 'create' && ended)",
	),
	result('a batch ends before its items', 'over: ended === left ||', 'over: ended >= 1 ||'),
	result(
		'an outage ends the items that are running',
		"if (now < since + job.timeoutMs) return { kind: 'stopped', generation };",
		"if (now < 0) return { kind: 'stopped', generation };",
	),
	errors(
		'an outage ends the items that were not sent',
		"if (generation === null) return charge === 'none' &&",
		'if (generation === null) return false &&',
	),
	result(
		'a wave does not know how often an item failed',
		'tried: triedBy(sources),',
		'tried: triedBy([]),',
	),
	submission(
		'the request of a wave that died is sent again',
		"if (entry.state === 'sent' && !this.mayResend(order)) {",
		"if (entry.state === 'none' && !this.mayResend(order)) {",
	),
	wave(
		'a row that could not be written is forgotten',
		'missing.filter(isLive).forEach((row) => inForce.set(row.key, row));',
		'',
	),
	result(
		'a wave does not report what it could not write',
		'const left = { ...unrecorded };',
		'const left = { ...unrecorded };\n\tif (left) return left;',
	),
	keyRow(
		'what failed before its id was written stays unresolved',
		'this.unrecorded = { ...this.unrecorded, status };',
		'void status;',
	),
	batched(
		'an id that could not be written is not written later',
		'for (const row of missing) {',
		'for (const row of missing.slice(0, 0)) {',
	),
];
