import { GenerationError } from '../../../client/api/errors';
import { readGeneration, type Generation } from '../../../client/api/generation';
import {
	errorOfJob,
	failedGeneration,
	inAnotherAccount,
	timedOutGeneration,
	type Outcome,
} from '../../../client/outcome';
import {
	paidGenerations,
	uncertainItems,
	uncheckedIds,
} from '../../../nodes/shared/output/outcomes';
import { wireGeneration, type WireFields } from '../../support/answers';

function generation(fields: WireFields = {}): Generation {
	const read = readGeneration(wireGeneration({ id: 'x', ...fields }), 0);
	if (read === null) throw new Error('Not read');
	return read;
}

const broken = new GenerationError({ title: 'Broken', description: 'Mend it.', code: 'broken' });

describe('the charged generations', () => {
	it('are all that exist and were not refunded', () => {
		const done = (id: string, status: string): Outcome<string> => ({
			kind: 'done',
			generation: generation({ id, status }).item,
			output: null,
		});
		const outcomes: Array<Outcome<string>> = [
			done('finished', 'completed'),
			done('running', 'processing'),
			done('refunded', 'failed'),
			{ kind: 'stopped', generation: { id: 'left', status: 'pending' } },
			{ kind: 'stopped', generation: { id: 'given by the user' } },
			{ kind: 'stopped', generation: null },
			{ kind: 'error', error: timedOutGeneration(generation({ id: 'late' }).item, 1, null) },
			{ kind: 'error', error: failedGeneration(generation({ id: 'failed' })) },
			{ kind: 'error', error: broken },
			{ kind: 'error', error: broken.with({ charge: 'unknown' }) },
			// Two items may share one generation.
			done('running', 'completed'),
		];
		expect(paidGenerations(outcomes).map(({ id }) => id)).toEqual([
			'finished',
			'running',
			'left',
			'late',
		]);
	});
});

describe('the ids that no status check has confirmed', () => {
	it('are those that the user entered, and whose check failed or was never sent', () => {
		const refused = broken.with({ code: 'forbidden' });
		const missing = broken.with({ code: 'generation_not_found' });
		const outcomes: Array<Outcome<string>> = [
			{ kind: 'stopped', generation: { id: 'stopped' } },
			{ kind: 'stopped', generation: { id: 'seen', status: 'pending' } },
			{ kind: 'stopped', generation: null },
			{ kind: 'error', error: errorOfJob(refused, { id: 'refused' }) },
			{ kind: 'error', error: errorOfJob(missing, { id: 'does not exist' }) },
			{ kind: 'error', error: timedOutGeneration({ id: 'late' }, 1, null) },
			{ kind: 'error', error: inAnotherAccount(missing, 'paid for') },
			{ kind: 'done', generation: { ...generation().item, id: 'shared' }, output: null },
			{ kind: 'stopped', generation: { id: 'shared' } },
		];
		expect(uncheckedIds(outcomes)).toEqual(['stopped', 'refused', 'late']);
	});
});

describe('the items whose charge is unknown', () => {
	it('are those whose responses were lost', () => {
		const errors = (['none', 'unknown', 'paid', 'unknown'] as const).map(
			(charge): Outcome<string> => ({ kind: 'error', error: broken.with({ charge }) }),
		);
		expect(uncertainItems([...errors, { kind: 'stopped', generation: null }])).toEqual([1, 3]);
	});
});
