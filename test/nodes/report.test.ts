import { GenerationError } from '../../client/wire/errors';
import type { GenerationItem } from '../../client/wire/generation';
import type { Outcome } from '../../client/jobs/outcome';
import { creditsHint, reportStop, summaryHint, type StepStats } from '../../nodes/shared/report';
import { contextOf } from '../support/context';

function stats(changes: Partial<StepStats>): StepStats {
	return {
		made: 3,
		takenUp: 0,
		failed: 0,
		slotWaitMs: 0,
		slotRefusal: null,
		retries: 0,
		...changes,
	};
}

describe('the hint after a run', () => {
	it.each<[Partial<StepStats>, string]>([
		[{ takenUp: 1 }, '3 made, 1 taken up from an earlier try without paying again'],
		[{ failed: 2 }, '3 made, 2 failed and refunded'],
		[{ retries: 1 }, '3 made, 1 request tried again'],
		[{ retries: 2 }, '3 made, 2 requests tried again'],
		[{ slotWaitMs: 1600 }, '3 made, waited 2 s for free slots'],
		[
			{ slotWaitMs: 1600, slotRefusal: '10 are running and your plan allows 10.' },
			'3 made, waited 2 s for free slots, the service said: 10 are running and your plan allows 10.',
		],
		[
			{ made: 0, takenUp: 4, failed: 1, retries: 5, slotWaitMs: 60_000 },
			'0 made, 4 taken up from an earlier try without paying again, 1 failed and refunded, 5 requests tried again, waited 60 s for free slots',
		],
	])('says what was not plain sailing: %j', (changes, message) => {
		const { context, hints } = contextOf();
		summaryHint(context, stats(changes));
		expect(hints).toEqual([{ message, location: 'outputPane', type: 'info' }]);
	});

	it.each([{}, { made: 0 }, { slotWaitMs: 400 }])('is not given after plain sailing: %j', (all) => {
		const { context, hints } = contextOf();
		summaryHint(context, stats(all));
		expect(hints).toEqual([]);
	});

	it('is left out by releases of n8n that have no hints', () => {
		const { context } = contextOf();
		const old = Object.assign(Object.create(context) as typeof context, {
			addExecutionHints: undefined,
		});
		expect(() => summaryHint(old, stats({ failed: 1 }))).not.toThrow();
	});
});

describe('the hint before a batch', () => {
	const items = (count: number) => Array.from({ length: count }, () => ({ json: {} }));

	it('says what is known, and that the price is not', () => {
		const { context, hints } = contextOf({ items: items(20) });
		creditsHint(context, 900);
		expect(hints).toEqual([
			{
				message: expect.stringMatching(
					/^900 credits are left, and 20 items came in\. .*not known/,
				) as string,
				location: 'outputPane',
				type: 'info',
			},
		]);
	});

	it.each([
		[1, 900],
		[20, undefined],
		[20, null],
	])('is not given for %i items and a balance of %s', (count, balance) => {
		const { context, hints } = contextOf({ items: items(count) });
		creditsHint(context, balance);
		expect(hints).toEqual([]);
	});
});

describe('the word in the log after a stop', () => {
	const done = (id: string): Outcome<null> => ({
		kind: 'done',
		generation: { id, status: 'completed' } as GenerationItem,
		output: null,
	});
	const stopped = (id: string): Outcome<null> => ({ kind: 'stopped', generation: { id } });
	const uncertain: Outcome<null> = {
		kind: 'error',
		error: new GenerationError({ title: '', description: '', code: '', charge: 'unknown' }),
	};

	it('names all that is paid for', () => {
		const { context, warnings } = contextOf();
		reportStop(context, [done('a'), stopped('b'), { kind: 'stopped', generation: null }]);
		expect(warnings).toEqual([
			{
				message: expect.stringMatching(
					/^Stopped while "Pictures" was running\. .*without paying: a, b\.$/,
				) as string,
				meta: { generations: ['a', 'b'] },
			},
		]);
	});

	it('names the items that may have been charged', () => {
		const { context, warnings } = contextOf();
		reportStop(context, [{ kind: 'stopped', generation: null }, uncertain, uncertain]);
		expect(warnings[0].message).toContain('without paying: none.');
		expect(warnings[0].message).toContain('not known whether these items were charged: 1, 2.');
	});

	it('is not given where nothing was paid', () => {
		const { context, warnings } = contextOf();
		reportStop(context, [{ kind: 'stopped', generation: null }]);
		expect(warnings).toEqual([]);
	});
});
