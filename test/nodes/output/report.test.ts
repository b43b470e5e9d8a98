import { GenerationError, type Charge } from '../../../client/api/errors';
import type { GenerationItem } from '../../../client/api/generation';
import type { Outcome } from '../../../client/jobs/outcome';
import { NOTHING_SPENT } from '../../../client/jobs/memory';
import type { PipelineStats } from '../../../client/step/pipeline';
import { reportEnd, summaryHint } from '../../../nodes/shared/output/report';
import { contextOf } from '../../support/context';
import { endsOf } from '../../support/ends';

function stats(changes: Partial<PipelineStats>): PipelineStats {
	return {
		made: 3,
		reused: 0,
		statusRequests: 0,
		slotWaitMs: 0,
		slotRefusal: null,
		retries: 0,
		resubmitted: 0,
		spent: NOTHING_SPENT,
		recreated: 0,
		balance: null,
		fellBack: 0,
		changed: [],
		...changes,
	};
}

function done(id: string, timed_out = false): Outcome<unknown> {
	const generation = { id, status: 'completed', timed_out } as GenerationItem;
	return { kind: 'done', generation, output: null };
}

/** A generation with further outputs, which were left out. */
function several(id: string, leftOut: number): Outcome<unknown> {
	return { ...done(id), leftOut } as Outcome<unknown>;
}

function failed(code: string, charge: Charge, skipped = false): Outcome<unknown> {
	const error = new GenerationError({ title: `Title of ${code}`, description: '', code, charge });
	return { kind: 'error', error: error.with({ skipped }) };
}

const stopped: Outcome<unknown> = { kind: 'stopped', generation: null };
const ready = [done('a'), done('b')];
const refunded = failed('generation_failed', 'refunded');

describe('the hint after a run', () => {
	const hintOf = (outcomes: Array<Outcome<unknown>>, changes: Partial<PipelineStats> = {}) => {
		const { step, hints } = contextOf({ items: outcomes.map(() => ({ json: {} })) });
		summaryHint(step, stats(changes), endsOf(outcomes));
		return hints;
	};
	const saying = (message: string, type = 'warning') => [{ message, location: 'outputPane', type }];

	it.each([
		[
			[several('a', 2), several('b', 1), ...ready],
			'4 of 4 ready. 3 more outputs were left out: only the first output of a generation is returned.',
		],
	])('is a warning if a generation had several outputs', (outcomes, message) => {
		expect(hintOf(outcomes)).toEqual(saying(message));
	});

	it.each<[string, Array<Outcome<unknown>>, string]>([
		[
			'some failed',
			[...ready, refunded, refunded],
			'2 failed and were refunded (items 3–4 of 4): Title of generation_failed.',
		],
		[
			'the credits ran out',
			[
				...ready,
				failed('insufficient_credits', 'none', true),
				failed('insufficient_credits', 'none'),
			],
			'2 failed at no charge (items 3–4 of 4): Title of insufficient_credits.',
		],
		[
			'a limit was reached',
			[...ready, failed('credit_limit_reached', 'none', true)],
			'1 was not sent at no charge: Title of credit_limit_reached.',
		],
		[
			'one was refused',
			[...ready, failed('invalid_parameter', 'none')],
			'1 failed at no charge (item 3 of 3): Title of invalid_parameter.',
		],
		[
			'some were handed on unfinished',
			[...ready, done('c', true), done('d', true)],
			'2 were not ready in time and returned unfinished. Wait for Completion returns the output later.',
		],
		[
			'one is late',
			[...ready, failed('timeout', 'paid')],
			'1 was charged, but has no output (item 3 of 3): Title of timeout. Wait for Completion returns it by ID at no charge.',
		],
		[
			'an answer was lost',
			[...ready, failed('uncertain_charge', 'unknown')],
			'1 got no response and may have been charged (item 3 of 3). Read the error before you run the items again.',
		],
		['it was stopped', [...ready, stopped], '1 was stopped.'],
	])('says what is ready, what is not, and why: %s', (_, outcomes, message) => {
		expect(hintOf(outcomes)).toEqual(saying(`2 of ${outcomes.length} ready. ${message}`));
	});

	it('says "returned" instead of "ready" if the step did not wait for a generation', () => {
		const pending = done('b');
		(pending as { generation: GenerationItem }).generation.status = 'pending';
		const hints = hintOf([done('a'), pending], { reused: 1 });
		expect(hints).toEqual(saying('2 of 2 returned. 1 reused, no charge.', 'info'));
	});

	it.each<[Partial<PipelineStats>, string]>([
		[{ reused: 1 }, '1 reused, no charge.'],
		[{ recreated: 2 }, '2 failed generations were refunded and created again.'],
		[{ retries: 1 }, '1 request was retried.'],
		[
			{ resubmitted: 2 },
			'2 requests were sent again after a lost response, and may have been charged again.',
		],
		[{ slotWaitMs: 1600 }, 'The step waited 2 s for free slots.'],
		[
			{ slotWaitMs: 1600, slotRefusal: '10 are running, and <your> plan allows 10.' },
			'The step waited 2 s for free slots. The service says: 10 are running, and &lt;your&gt; plan allows 10.',
		],
	])('says what happened during the run: %j', (changes, message) => {
		const type = changes.resubmitted ? 'warning' : 'info';
		expect(hintOf(ready, changes)).toEqual(saying(`2 of 2 ready. ${message}`, type));
	});

	it.each([
		[99_992, 99_920, 'About 72 credits spent. Balance: 99,992 → 99,920'],
		[100, 99, 'About 1 credit spent. Balance: 100 → 99'],
		[100, 150, 'Balance: 100 → 150'],
	])('says the balance before and after: %d, %d', (before, after, text) => {
		const message = `2 of 2 ready. ${text}, including other work on this account.`;
		expect(hintOf(ready, { balance: { before, after } })).toEqual(saying(message, 'info'));
	});

	it('warns if another model than the chosen one was used', () => {
		const message = '2 of 2 ready. 1 output is from a fallback model.';
		expect(hintOf(ready, { fellBack: 1 })).toEqual(saying(message));
	});

	it.each([{}, { made: 0 }, { slotWaitMs: 400 }])(
		'is absent if nothing special happened: %j',
		(all) => {
			expect(hintOf(ready, all)).toEqual([]);
		},
	);
});

describe('the log message after a stop or an error', () => {
	const stoppedAt = (id: string, status?: string): Outcome<null> => ({
		kind: 'stopped',
		generation: { id, status },
	});

	it('names everything that is charged', () => {
		const { step, warnings } = contextOf();
		reportEnd(step, 'Stopped', endsOf([done('a'), stoppedAt('b', 'pending'), stopped]));
		expect(warnings).toEqual([
			{
				message: expect.stringMatching(
					/^Stopped while "Pictures" was running\. .*at no charge: a, b\.$/,
				) as string,
				meta: { generations: ['a', 'b'] },
			},
		]);
	});
});
