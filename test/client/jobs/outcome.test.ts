import { CancelledError, GenerationError } from '../../../client/api/errors';
import { readGeneration, type Generation } from '../../../client/api/generation';
import {
	errorOfJob,
	failedGeneration,
	inAnotherAccount,
	notSent,
	thrownOutcome,
	timedOutGeneration,
} from '../../../client/jobs/outcome';
import { wireGeneration, type WireFields } from '../../support/answers';

function generation(fields: WireFields = {}): Generation {
	const read = readGeneration(wireGeneration({ id: 'x', ...fields }), 0);
	if (read === null) throw new Error('Not read');
	return read;
}

const broken = new GenerationError({ title: 'Broken', description: 'Mend it.', code: 'broken' });

describe('a generation that failed', () => {
	it('has the reason in its title, and says what to do', () => {
		const failed = generation({ status: 'failed', error: { message: 'Out of paint.' } });
		const error = failedGeneration(failed);
		expect(error).toMatchObject({
			message: 'The generation failed: Out of paint',
			code: 'generation_failed',
			charge: 'refunded',
			retry: 'never',
			generation: failed.item,
		});
		expect(error.description).toBe('Change the prompt or the model, or try again.');
	});

	it('has a long reason in its details', () => {
		const message = 'Out of paint, and of paper, and of ideas. '.repeat(5);
		const error = failedGeneration(generation({ status: 'failed', error: { message } }));
		expect(error.message).toBe('The generation failed');
		expect(error.details).toBe(`The service says: ${message}`);
	});

	it('has a plain title without a reason', () => {
		expect(failedGeneration(generation({ status: 'failed' })).message).toBe(
			'The generation failed',
		);
	});
});

describe('a generation that is not ready in time', () => {
	it('has been charged, and the error says how to fetch it', () => {
		const late = generation({ status: 'processing' });
		const error = timedOutGeneration(late.item, 90_000, null);
		expect(error).toMatchObject({
			message: 'The generation did not finish within 90 s',
			code: 'timeout',
			charge: 'paid',
			generation: late.item,
		});
		expect(error.details).toBe('It is still processing.');
		expect(error.description).toContain('Wait for Completion');
	});

	it('names the error of the last status check', () => {
		const late = generation({ status: 'processing' });
		const { details } = timedOutGeneration(late.item, 1000, broken);
		expect(details).toBe(
			'It was processing when last checked. The last status check failed: Broken.',
		);
	});

	it('whose id no status check has confirmed is not reported as charged', () => {
		const error = timedOutGeneration({ id: 'x' }, 1000, broken);
		expect(error).toMatchObject({ charge: 'none', generation: { id: 'x' } });
		expect(error.details).toMatch(
			/^Its status could not be checked\. Whether the generation exists is unknown/,
		);
	});
});

describe('a skipped item', () => {
	it('names the cause and its item, and that it was never sent', () => {
		const cause = broken.with({ status: 402, retry: 'backoff', fatalForStep: true });
		expect(notSent(cause, { itemIndex: 4, itemCount: 12 })).toMatchObject({
			message: 'Skipped because item 5 of 12 failed: Broken',
			description: 'Mend it.',
			code: 'broken',
			status: 402,
			charge: 'none',
			retry: 'never',
			skipped: true,
		});
	});
});

describe('the error of a job', () => {
	it('is the thrown error if there is no generation', () => {
		expect(errorOfJob(broken, null)).toBe(broken);
	});

	it('includes the generation, which was charged', () => {
		const { item } = generation();
		expect(errorOfJob(broken, item)).toMatchObject({ generation: item, charge: 'paid' });
	});

	it('keeps its own generation and charge', () => {
		const refunded = failedGeneration(generation({ id: 'own' }));
		expect(errorOfJob(refunded, { id: 'other' })).toBe(refunded);
		const uncertain = broken.with({ charge: 'unknown' });
		expect(errorOfJob(uncertain, { id: 'x' }).charge).toBe('unknown');
	});

	it('about an id that does not exist has no generation and no charge', () => {
		const missing = broken.with({ code: 'generation_not_found' });
		expect(errorOfJob(missing, { id: 'x' })).toBe(missing);
	});

	it('mentions another account if the generation of an earlier attempt is not found', () => {
		const missing = broken.with({ code: 'generation_not_found' });
		const error = errorOfJob(inAnotherAccount(missing, 'x'), { id: 'x', status: 'pending' });
		expect(error).toMatchObject({
			message: 'The service does not know the generation of an earlier attempt',
			code: 'generation_not_found',
			charge: 'paid',
			generation: { id: 'x' },
		});
		expect(error.description).toMatch(/Choose the credential .*new execution/);
		expect(errorOfJob(error, null)).toMatchObject({ message: error.message });
	});

	it('includes an id that was never confirmed, and claims no charge because of a possible typo', () => {
		const error = errorOfJob(broken, { id: 'x' });
		expect(error).toMatchObject({ message: 'Broken', generation: { id: 'x' }, charge: 'none' });
		expect(error.description).toBe(
			'Mend it. Or get the generation with Wait for Completion, by its ID.',
		);
	});

	it('includes a generation that was seen before, even if the service says that it does not exist', () => {
		const missing = broken.with({ code: 'generation_not_found' });
		const { item } = generation();
		expect(errorOfJob(missing, item)).toMatchObject({ generation: item, charge: 'paid' });
	});

	it.each([
		[new TypeError('A mistake of ours'), 'A mistake of ours'],
		['a text', 'a text'],
		[undefined, 'undefined'],
	])('includes an unexpected value: %s', (thrown, message) => {
		const error = errorOfJob(thrown, { id: 'x', status: 'pending' });
		expect(error).toMatchObject({ message, code: 'unexpected_error', charge: 'paid' });
		expect(error.cause).toBe(thrown);
	});
});

describe('the outcome of a job that threw', () => {
	it('after a stop is not an error, and keeps the generation', () => {
		expect(thrownOutcome(new CancelledError(), { id: 'x' })).toEqual({
			kind: 'stopped',
			generation: { id: 'x' },
		});
	});

	it('otherwise is the error', () => {
		expect(thrownOutcome(broken, null)).toEqual({ kind: 'error', error: broken });
	});
});
