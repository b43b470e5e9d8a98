import type { Plan } from '../../../nodes/shared/form/plan-items';
import { runNode } from '../../../nodes/shared/run/run-node';
import { InvalidInputError } from '../../../nodes/shared/form/checks';
import { contextOf } from '../../support/context';
import { creating } from '../../support/step';

it('reads the parameters of many items without blocking n8n', async () => {
	const items = Array.from({ length: 1000 }, () => ({ json: {} }));
	let turn = 0;
	let over = false;
	const countTurns = (): void => {
		turn++;
		if (!over) setImmediate(countTurns);
	};
	const read: number[] = [];
	const readInTurn = new Map<number, number>();
	const { step } = contextOf({ items });
	const reading = async () =>
		await runNode(step, (_, itemIndex) => {
			read.push(itemIndex);
			readInTurn.set(turn, (readInTurn.get(turn) ?? 0) + 1);
			throw new InvalidInputError(`Item ${itemIndex} is empty`, '');
		});
	// Started right before a turn is counted, so that no timer can end earlier.
	const running = new Promise((resolve) => setImmediate(() => resolve(reading())));
	setImmediate(countTurns);
	await expect(running).rejects.toThrow('Item 0 is empty');
	over = true;
	expect(read).toEqual(items.map((_, index) => index));
	// Fifty at a time; on a busy machine timers that are overdue follow each other in one turn.
	expect(Math.max(...readInTurn.values())).toBeLessThanOrEqual(250);
});

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

it('runs more outputs than a function call has room for', async () => {
	const { step } = contextOf({ cancel: AbortSignal.abort() });
	const plan: Plan = { job: creating('A boat'), download: null };
	const running = runNode(step, () => Array.from({ length: 150_000 }, () => plan));
	expect(await running).toEqual([[]]);
});
