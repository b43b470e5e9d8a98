import { answerLost, refused } from '../../support/fake-service';
import { batch, creating, errorIn, inShort, Step, type CreateChanges } from '../../support/step';

/** Creates a step whose first generations fail. */
function failing(times: number, settings = {}): Step {
	const step = new Step(settings);
	let failures = 0;
	step.fake.failure = () => (failures++ < times ? 'out of paint' : undefined);
	return step;
}

const modelsSent = (step: Step) =>
	step.fake.seen.flatMap(({ method, body }) =>
		method === 'POST' ? [(body as { model: string }).model] : [],
	);
const namesSent = (step: Step) =>
	step.fake.seen.flatMap(({ method, headers }) =>
		method === 'POST' ? [headers?.['Idempotency-Key']] : [],
	);
const withFallbacks: CreateChanges = { fallbackModels: ['second', 'third'] };

describe('a failed generation', () => {
	it('is created again, up to the maximum, and the last one is returned', async () => {
		const step = failing(2);
		const { outcomes, stats } = await step.run(batch(1, { retriesOnFailure: 2 }));
		expect(outcomes.map(inShort)).toEqual(['completed generation-3']);
		expect(stats).toMatchObject({ made: 3, recreated: 2 });
		expect(new Set(namesSent(step)).size).toBe(3);
	});

	it('is the error of its item when no retry is left, with the number of failures', async () => {
		const step = failing(9);
		const { outcomes } = await step.run(batch(1, { retriesOnFailure: 2 }));
		const error = errorIn(outcomes[0]);
		expect(inShort(outcomes[0])).toBe('generation_failed generation-3');
		expect(error.charge).toBe('refunded');
		expect(error.description).toContain('3 generations of this item failed and were refunded');
		expect(step.fake.made).toHaveLength(3);
	});

	it('does not end the step while it is created again', async () => {
		const step = failing(1, { stopOnError: true });
		const { outcomes } = await step.run(batch(3, { retriesOnFailure: 1 }));
		expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
	});

	it('is followed by a fallback model when no retry is left', async () => {
		const step = failing(2);
		const { outcomes, stats } = await step.run(batch(1, { ...withFallbacks, retriesOnFailure: 1 }));
		expect(modelsSent(step)).toEqual(['aurora-image-1', 'aurora-image-1', 'second']);
		expect(outcomes.map(inShort)).toEqual(['completed generation-3']);
		expect(stats).toMatchObject({ recreated: 2, fellBack: 1 });
	});
});

describe('a fallback model', () => {
	it.each([
		[502, 'model_unavailable', 7],
		[404, 'model_not_found', 1],
		[422, 'unsupported_parameter', 1],
	])('is used after %d %s, and the order stays the same', async (status, code, times) => {
		const step = new Step();
		step.fake.order('p0', ...Array(times).fill(refused(status, code)));
		const [job] = batch(1, {
			...withFallbacks,
			recipe: () => ({ request: 'r', idempotencyKey: '' }),
		});
		const { outcomes } = await step.run([job]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(modelsSent(step).at(-1)).toBe('second');
		expect((await step.runAgain([job])).outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.made).toHaveLength(1);
	});

	it('has its own request name, for a service that accepts one body per name', async () => {
		const step = new Step();
		step.fake.order('p0', refused(404, 'model_not_found'));
		await step.run(batch(1, withFallbacks));
		expect(new Set(namesSent(step)).size).toBe(2);
	});

	it('is not used while a charge is uncertain', async () => {
		const step = new Step();
		step.fake.order('p0', answerLost);
		const { outcomes } = await step.run(batch(1, withFallbacks));
		expect(outcomes.map(inShort)).toEqual(['uncertain_charge']);
		expect(modelsSent(step)).toEqual(['aurora-image-1']);
	});

	it('is not used after a lost response and a later rejection', async () => {
		const step = new Step();
		step.fake.order('p0', answerLost, refused(404, 'model_not_found'));
		const changes = { ...withFallbacks, onUncertainCharge: 'resubmit' } as const;
		const { outcomes } = await step.run(batch(1, changes));
		expect(outcomes.map(inShort)).toEqual(['uncertain_charge']);
		expect(modelsSent(step)).not.toContain('second');
	});

	it('is named in the error when none of them works', async () => {
		const step = new Step();
		step.fake.order('p0', ...Array(9).fill(refused(404, 'model_not_found')));
		const { outcomes } = await step.run([creating('p0', 0, withFallbacks)]);
		expect(modelsSent(step)).toEqual(['aurora-image-1', 'second', 'third']);
		expect(errorIn(outcomes[0]).description).toContain(
			'Fallback models that were tried: second, third',
		);
	});
});
