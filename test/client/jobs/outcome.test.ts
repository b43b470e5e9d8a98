import { GenerationError } from '../../../client/api/errors';
import { readGeneration, type Generation } from '../../../client/api/generation';
import { errorOfJob, failedGeneration, timedOutGeneration } from '../../../client/jobs/outcome';
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
		expect(error.description).toMatch(
			/Change the prompt or the model, .* URLs open from the internet without a login/,
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

	it('whose id no status check has confirmed is not reported as charged', () => {
		const error = timedOutGeneration({ id: 'x' }, 1000, broken);
		expect(error).toMatchObject({ charge: 'none', generation: { id: 'x' } });
		expect(error.details).toMatch(
			/^Its status could not be checked\. Whether the generation exists is unknown/,
		);
	});
});

describe('the error of a job', () => {
	it('includes the generation, which was charged', () => {
		const { item } = generation();
		expect(errorOfJob(broken, item)).toMatchObject({ generation: item, charge: 'paid' });
	});

	it('includes an id that was never confirmed, and claims no charge because of a possible typo', () => {
		const error = errorOfJob(broken, { id: 'x' });
		expect(error).toMatchObject({ message: 'Broken', generation: { id: 'x' }, charge: 'none' });
		expect(error.description).toBe(
			'Mend it. Or get the generation with Wait for Completion, by its ID.',
		);
	});
});
