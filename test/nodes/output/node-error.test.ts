import { inspect } from 'util';

import { NodeApiError } from 'n8n-workflow';

import { errorFromResponse, GenerationError } from '../../../client/api/errors';
import type { GenerationItem } from '../../../client/api/generation';
import { uncertainCharge } from '../../../client/orders/order-errors';
import { errorOfJob, timedOutGeneration, type Outcome } from '../../../client/jobs/outcome';
import { nodeError, stepError as errorOfEnds } from '../../../nodes/shared/output/node-error';
import { refusal } from '../../support/answers';
import { contextOf } from '../../support/context';
import { endsOf } from '../../support/ends';
import { storedOrders } from '../../support/stored-orders';
import type { Journal } from '../../../client/orders/journal';
import type { Step } from '../../../nodes/shared/step';

const { step } = contextOf();

/** The error of a step whose first items have ended like this. The item `failed` comes last if it is not among them. */
function stepError(
	of: Step,
	error: GenerationError,
	failed: number,
	outcomes: Array<Outcome<unknown>>,
	journal?: Journal,
): NodeApiError {
	const ends = endsOf(outcomes);
	if (failed < ends.length) return errorOfEnds(of, error, failed, ends, journal);
	const last = { kind: 'error', error, itemIndex: failed } as const;
	return errorOfEnds(of, error, ends.length, [...ends, last], journal);
}

const failed = new GenerationError({
	title: 'The generation failed: Out of paint',
	description: 'Change the prompt',
	code: 'generation_failed',
	charge: 'refunded',
	generation: { id: 'x', status: 'failed' },
});

function done(id: string, status: string): Outcome<null> {
	return { kind: 'done', generation: { id, status } as GenerationItem, output: null };
}

describe('an error as n8n shows it', () => {
	it('has title, description, status, code and item', () => {
		const error = nodeError(step, failed.with({ status: 422 }), 3);
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error).toMatchObject({
			message: 'The generation failed: Out of paint',
			description:
				'The credits were refunded. Change the prompt. Code: generation_failed, HTTP 422. Generation: x (failed).',
			httpCode: '422',
			context: { itemIndex: 3, code: 'generation_failed' },
		});
		expect(error.node.name).toBe('Pictures');
	});

	it.each([402, 404, 500])(
		'keeps its own title and advice at %i, although n8n has its own texts for the status',
		(status) => {
			const own = errorFromResponse(refusal(status, 'brand_new', 'Words'), true);
			const error = nodeError(step, own, 0);
			expect(error.message).toBe(own.message);
			expect(error.description).toContain(own.description);
			expect(error.messages).toEqual(['Words']);
			expect(error.httpCode).toBe(String(status));
		},
	);

	it('puts everything into the message for an agent, which sees nothing else', () => {
		const tool = contextOf({ isTool: true });
		const error = nodeError(tool.step, failed, 0);
		expect(error.message).toBe(
			'The generation failed: Out of paint. The credits were refunded. Change the prompt. Code: generation_failed. Generation: x (failed).',
		);
	});

	it('shows the message of the service unchanged, although n8n renders HTML', () => {
		const title = 'The generation failed: <b>No</b> & <img src=x>';
		const error = nodeError(step, failed.with({ title, description: 'Use <width>x<height>' }), 0);
		expect(error.message).toBe('The generation failed: ‹b›No‹/b› & ‹img src=x›');
		expect(error.description).toMatch(/Use &lt;width&gt;x&lt;height&gt;\./);
		const tool = nodeError(contextOf({ isTool: true }).step, failed.with({ title }), 0);
		expect(tool.message).toContain(title);
	});
});

describe('the error of a step that stops', () => {
	it('names every charged generation, and its status', () => {
		const outcomes: Array<Outcome<null>> = [
			done('a', 'completed'),
			{ kind: 'error', error: failed },
			{ kind: 'stopped', generation: { id: 'b', status: 'processing' } },
			{ kind: 'stopped', generation: { id: 'c' } },
			{ kind: 'stopped', generation: null },
			// Checked once, and found refunded.
			done('d', 'failed'),
			// Two items may share one generation.
			done('b', 'completed'),
		];
		const error = stepError(step, failed, 1, outcomes);
		expect(error.description).toMatch(/Change the prompt\./);
		expect(error.description).toContain(
			'1 item was not sent. 2 generations have already been charged.',
		);
		expect(error.description).toMatch(/Charged: a \(completed\), b \(completed\)\.$/);
		expect(error.context.generations).toEqual([
			{ id: 'a', status: 'completed' },
			{ id: 'b', status: 'completed' },
		]);
	});

	it('names an id that was given by the user and never checked, and does not call it charged', () => {
		const ids = [1, 2, 3].map((last) => `8706c4eb-fb26-47fd-a7e7-9d2b47f6663${last}`);
		const refused = errorFromResponse(refusal(403, 'forbidden'), true);
		const missing = errorFromResponse(refusal(404, 'generation_not_found'), true);
		const outcomes: Array<Outcome<null>> = [
			{ kind: 'stopped', generation: { id: ids[0] } },
			{ kind: 'error', error: failed },
			{ kind: 'error', error: errorOfJob(refused, { id: ids[1] }) },
			{ kind: 'error', error: errorOfJob(missing, { id: 'does not exist' }) },
			{ kind: 'error', error: timedOutGeneration({ id: ids[2] }, 1, null) },
			{ kind: 'error', error: errorOfJob(missing, { id: 'kept', status: 'pending' }) },
			{ kind: 'stopped', generation: { id: 'shared' } },
			{
				kind: 'done',
				generation: { id: 'shared', status: 'failed' } as GenerationItem,
				output: null,
			},
		];
		const error = stepError(step, failed, 1, outcomes);
		expect(error.description).toContain(`Not checked: ${ids.join(', ')}.`);
		expect(error.description).toMatch(/Charged: kept \(pending\)\.$/);
		expect(error.context.generations).toEqual([{ id: 'kept', status: 'pending' }]);
	});

	it('names what earlier tries were charged for, each once', () => {
		const kept = storedOrders({ id: 'a', status: 'pending' }, { id: 'b' });
		const known = failed.with({ charge: 'paid', generation: { id: 'a', status: 'completed' } });
		const error = stepError(step, known, 0, [{ kind: 'error', error: known }], kept);
		expect(error.context.generations).toEqual([
			{ id: 'a', status: 'completed' },
			{ id: 'b', status: 'pending' },
		]);
		expect(error.description).toContain(
			'Use Retry on the latest execution, or Retry On Fail: charged generations are reused. Without an Idempotency Key, a new execution or a retry of an older one is charged again.',
		);
	});

	it('tells an agent that another call of the tool pays again', () => {
		const { step: tool } = contextOf({ isTool: true });
		const kept = storedOrders({ id: 'a', status: 'pending' });
		const { message } = stepError(tool, failed, 0, [], kept);
		expect(message).toMatch(
			/Another call of this tool is charged again, unless .*\. Get the existing generation by its ID/,
		);
		expect(message).not.toContain('Retry');
	});

	it('names the other items that may have been charged because their responses were lost', () => {
		const lost: Outcome<null> = { kind: 'error', error: uncertainCharge(null) };
		const outcomes: Array<Outcome<null>> = [lost, done('a', 'completed'), lost, lost];
		const { step: four } = contextOf({ items: outcomes.map(() => ({ json: {} })) });
		expect(stepError(four, uncertainCharge(null), 2, outcomes).description).toContain(
			'Items 1, 4 of 4 may have been charged.',
		);
		expect(stepError(step, failed, 1, [done('a', 'completed')]).description).not.toContain(
			'not known',
		);
	});

	it('names no other outputs of the same item', () => {
		const outputs = [0, 0, 1].map(
			(itemIndex) => ({ kind: 'error', error: failed, itemIndex }) as const,
		);
		const { step: two } = contextOf({ items: [{ json: {} }, { json: {} }] });
		const { description } = errorOfEnds(two, failed, 0, outputs);
		expect(description).toContain('Item 2 of 2 failed, too: ');
		expect(description).not.toContain('Items 1');
	});

	it.each([
		[1, null],
		[2, 'Item 2 of 20 failed, too: The generation failed: Out of paint.'],
		[20, 'Items 2–20 of 20 failed, too: The generation failed: Out of paint.'],
	])('names the other failures: of %i in all', (count, words) => {
		const outcomes = Array.from(
			{ length: count },
			(): Outcome<null> => ({
				kind: 'error',
				error: failed,
			}),
		);
		const { step: twenty } = contextOf({ items: Array.from({ length: 20 }, () => ({ json: {} })) });
		const { description } = stepError(twenty, failed, 0, outcomes);
		if (words === null) expect(description).not.toContain('too');
		else expect(description).toContain(words);
	});

	it.each<[string[], string]>([
		[['completed', 'completed'], '2 generations have already been charged. Code'],
		[
			['completed', 'processing', 'pending'],
			'3 generations have already been charged. 2 of them are still running, and are refunded if they fail.',
		],
		[
			['pending'],
			'1 generation has already been charged. It is still running, and is refunded if it fails.',
		],
	])('says the running generations apart: %j', (statuses, said) => {
		const outcomes = statuses.map(
			(status, index): Outcome<null> => ({
				kind: 'stopped',
				generation: { id: `g${index}`, status },
			}),
		);
		const { description } = stepError(step, failed, 9, outcomes);
		expect(description).toContain(said);
	});
});

it('counts the items of a failed step from 1 for people, and from 0 for programs', () => {
	const { step: twelve } = contextOf({
		items: Array.from({ length: 12 }, () => ({ json: {} })),
	});
	const error = stepError(twelve, failed, 2, []);
	expect(error.description).toMatch(/^Item 3 of 12 failed\. .*Change the prompt\. Code/);
	expect(error.context.itemIndex).toBe(2);
	// The editor would add an index that it finds to the title: [item 2].
	expect(Object.keys(error.context)).not.toContain('itemIndex');
	expect(Object.keys(stepError(step, failed, 0, []).context)).toContain('itemIndex');
});

describe('the request, which holds the key,', () => {
	it('is in no error: only what the rules have read of the answer is', () => {
		const secret = 'svc_live_secret';
		const answer = {
			...refusal(401, 'authentication_error', 'The key is not valid'),
			config: { headers: { Authorization: `Bearer ${secret}` } },
			request: { key: secret },
		};
		const error = stepError(step, errorFromResponse(answer, true), 0, []);
		const shown = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error)];
		expect(shown.join('')).not.toContain(secret);
	});
});

describe('what a step that stops has paid for', () => {
	const entries = (...ids: string[]) =>
		storedOrders(...ids.map((id) => ({ id, status: 'pending' })));
	const paidIn = (error: NodeApiError) =>
		(error.context.generations as Array<{ id: string }>).map(({ id }) => id);

	it('does not contain a refunded generation, even if the journal has it', () => {
		const error = stepError(step, failed, 0, [], entries('x', 'b'));
		expect(paidIn(error)).toEqual(['b']);
		expect(error.description).toMatch(/Refunded: x\. Charged: b \(pending\)\.$/);
	});

	it('does not count the generation that the error is about', () => {
		const own = failed.with({ charge: 'paid', code: 'timeout' });
		const { description } = stepError(step, own, 0, [{ kind: 'error', error: own }]);
		expect(description).not.toMatch(/already been charged|Refunded/);
		expect(description).toMatch(/Charged: x \(failed\)\.$/);
	});
});
