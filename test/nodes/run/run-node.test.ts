import type { Plan } from '../../../nodes/shared/form/plan-items';
import { runNode } from '../../../nodes/shared/run/run-node';
import { contextOf } from '../../support/context';
import { creating } from '../../support/step';

const boom = (): never => {
	throw new TypeError('boom');
};

it.each<[string, () => Plan]>([
	['its parameters are read', boom],
	[
		'its request is built',
		() => ({
			job: creating('A boat', 0, { request: async () => boom() }),
			download: null,
		}),
	],
])('logs unexpected errors with their stack trace: when %s', async (_, plan) => {
	const { step, errors } = contextOf();
	await expect(runNode(step, () => [plan()])).rejects.toThrow('boom');
	expect(errors).toEqual([
		{
			message: '"Pictures" failed with an unexpected error: boom',
			meta: { trace: expect.stringMatching(/^TypeError: boom\n +at /) as string },
		},
	]);
});
