import { inspect } from 'util';

import { NodeApiError } from 'n8n-workflow';

import { errorFromResponse, GenerationError } from '../../../client/api/errors';
import type { GenerationItem } from '../../../client/api/generation';
import { uncertainCharge } from '../../../client/orders/order-errors';
import {
	errorOfJob,
	inAnotherAccount,
	notSent,
	timedOutGeneration,
	type Outcome,
} from '../../../client/jobs/outcome';
import { nodeError, stepError } from '../../../nodes/shared/output/node-error';
import { refusal } from '../../support/answers';
import { contextOf } from '../../support/context';
import { storedOrders } from '../../support/stored-orders';

const { step } = contextOf();

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

	it.each([400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503])(
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

	it.each(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EACCES', 'ECONNRESET', 'getaddrinfo'])(
		'keeps its own title if the message of the service contains %s',
		(word) => {
			const title = `The generation failed: Upstream said ${word} and 404`;
			expect(nodeError(step, failed.with({ title }), 0).message).toBe(title);
		},
	);

	it('puts everything into the message for an agent, which sees nothing else', () => {
		const tool = contextOf({ isTool: true });
		const error = nodeError(tool.step, failed, 0);
		expect(error.message).toBe(
			'The generation failed: Out of paint. The credits were refunded. Change the prompt. Code: generation_failed. Generation: x (failed).',
		);
	});

	it('has the category of the error, if it is known', () => {
		const refused = errorFromResponse(refusal(402, 'insufficient_credits'), true);
		expect(nodeError(step, refused, 0).failure).toEqual({ cause: 'quota-exhausted' });
		expect(nodeError(step, failed, 0).failure).toBeUndefined();
	});

	it('has its message in the stack too, which is what n8n logs', () => {
		const { stack } = nodeError(step, failed, 0);
		expect(stack).toMatch(/^NodeApiError: The generation failed: Out of paint\n\s+at /);
	});

	it('has the stack trace of an unexpected error, which n8n logs, and nothing else of it', () => {
		const thrown = Object.assign(new TypeError('A mistake of ours'), { config: 'svc_live_secret' });
		const { cause } = nodeError(step, errorOfJob(thrown, { id: 'x' }), 0);
		expect(cause).toBeInstanceOf(Error);
		expect(cause).toMatchObject({
			name: 'TypeError',
			message: thrown.message,
			stack: thrown.stack,
		});
		expect(inspect(cause, { showHidden: true })).not.toContain('secret');
		expect(nodeError(step, failed, 0).cause).toBeUndefined();
	});

	it('shows the message of the service unchanged, although n8n renders HTML', () => {
		const title = 'The generation failed: <b>No</b> & <img src=x>';
		const error = nodeError(step, failed.with({ title, description: 'Use <width>x<height>' }), 0);
		expect(error.message).toBe('The generation failed: ‹b›No‹/b› & ‹img src=x›');
		expect(error.description).toMatch(/Use &lt;width&gt;x&lt;height&gt;\./);
		const tool = nodeError(contextOf({ isTool: true }).step, failed.with({ title }), 0);
		expect(tool.message).toContain(title);
	});

	it('has no status if there was no response', () => {
		expect(nodeError(step, failed, 0).httpCode).toBeNull();
	});
});

describe('the error of a step that stops', () => {
	it('names the item, the cause and its code', () => {
		const error = stepError(step, failed.with({ status: 500 }), 2, []);
		expect(error.message).toBe(failed.message);
		expect(error.description).toBe(
			'The credits were refunded. Change the prompt. Code: generation_failed, HTTP 500. Refunded: x.',
		);
		expect(error.context).toMatchObject({ itemIndex: 2, code: 'generation_failed' });
	});

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
			'1 item was skipped. 2 generations have already been charged.',
		);
		expect(error.description).toMatch(/Charged: a \(completed\), b \(completed\)\.$/);
		expect(error.context.generations).toEqual([
			{ id: 'a', status: 'completed' },
			{ id: 'b', status: 'completed' },
		]);
		expect(error.description).not.toContain('more item');
	});

	it('does not list the numbers of rows as IDs that were not checked', () => {
		const rows = ['27', '28'].map((id): Outcome<null> => ({ kind: 'stopped', generation: { id } }));
		const error = stepError(step, failed, 2, [...rows, { kind: 'error', error: failed }]);
		expect(error.description).not.toContain('Not checked');
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
			{ kind: 'error', error: inAnotherAccount(missing, 'kept') },
			{ kind: 'stopped', generation: { id: 'shared' } },
			{
				kind: 'done',
				generation: { id: 'shared', status: 'failed' } as GenerationItem,
				output: null,
			},
		];
		const error = stepError(step, failed, 1, outcomes);
		expect(error.description).toContain(`Not checked: ${ids.join(', ')}.`);
		expect(error.description).toMatch(/Charged: kept\.$/);
		expect(error.context.generations).toEqual([{ id: 'kept', status: null }]);
	});

	it('names what earlier tries were charged for, each once', () => {
		const kept = storedOrders({ id: 'a', status: 'pending' }, { id: 'b' });
		const outcomes: Array<Outcome<null>> = [done('a', 'completed')];
		const error = stepError(step, failed, 1, outcomes, kept);
		expect(error.context.generations).toEqual([
			{ id: 'a', status: 'completed' },
			{ id: 'b', status: null },
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

	it('advises no retry if the step itself was charged for nothing', () => {
		const waited = stepError(step, failed, 1, [done('a', 'processing')], storedOrders());
		expect(waited.description).toContain(
			'1 generation has already been charged. It is still running',
		);
		expect(waited.description).not.toContain('Retry');
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

	it('does not call an item failed that was never sent', () => {
		const unsent: Outcome<null> = { kind: 'error', error: notSent(failed, { itemIndex: 0 }) };
		const broken: Outcome<null> = { kind: 'error', error: failed };
		const stopped: Outcome<null> = { kind: 'stopped', generation: null };
		const { step: four } = contextOf({ items: Array.from({ length: 4 }, () => ({ json: {} })) });
		const { description } = stepError(four, failed, 0, [broken, unsent, broken, stopped]);
		expect(description).toContain(
			'Item 3 of 4 failed, too: The generation failed: Out of paint. 2 items were skipped.',
		);
	});

	it.each([
		[1, null],
		[2, 'Item 2 of 20 failed, too: The generation failed: Out of paint.'],
		[4, 'Items 2, 3, 4 of 20 failed, too: The generation failed: Out of paint.'],
		[20, '19 more items failed.'],
	])('names the other failures, or counts many: of %i in all', (count, words) => {
		const outcomes = Array.from(
			{ length: count },
			(): Outcome<null> => ({
				kind: 'error',
				error: failed,
			}),
		);
		const { step: twenty } = contextOf({ items: Array.from({ length: 20 }, () => ({ json: {} })) });
		const { description } = stepError(twenty, failed, 0, outcomes);
		if (words === null) expect(description).not.toMatch(/more item|too/);
		else expect(description).toContain(words);
	});

	it('names another failed item and its reason, whether its error or only its status is known', () => {
		const refused = failed.with({ title: 'The service refused the content' });
		const { step: three } = contextOf({ items: Array.from({ length: 3 }, () => ({ json: {} })) });
		const { description } = stepError(three, failed, 1, [
			{ kind: 'error', error: refused },
			{ kind: 'error', error: failed },
			{ kind: 'stopped', generation: { id: 'z', status: 'failed' } },
		]);
		expect(description).toContain('Items 1, 3 of 3 failed, too: The service refused the content.');
		expect(description).not.toContain('charged.');
	});

	it.each<[string[], string]>([
		[['completed', 'completed'], '2 generations have already been charged. Code'],
		[
			['completed', 'processing', 'pending'],
			'3 generations have already been charged. 2 of them are still running, and are refunded if they fail.',
		],
		[
			['completed', 'pending'],
			'2 generations have already been charged. 1 of them is still running, and is refunded if it fails.',
		],
		[
			['pending'],
			'1 generation has already been charged. It is still running, and is refunded if it fails.',
		],
		[
			['pending', 'queued', 'failed'],
			'2 generations have already been charged. They are still running, and are refunded if they fail.',
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

	it('does not count an item that failed, even if the journal still has it as running', () => {
		const { description } = stepError(
			step,
			failed,
			0,
			[
				{ kind: 'error', error: failed },
				{ kind: 'error', error: failed.with({ generation: { id: 'y', status: 'failed' } }) },
			],
			storedOrders({ id: 'x', status: 'pending' }, { id: 'y', status: 'pending' }),
		);
		expect(description).not.toContain('already been charged');
	});

	it('does not mention charges if there were none', () => {
		const { description, context: details } = stepError(step, failed, 0, []);
		expect(description).not.toContain('paid');
		expect(details.generations).toEqual([]);
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

	it('is each generation once, of this try and of earlier ones', () => {
		const outcomes = [done('a', 'completed'), done('b', 'completed')];
		expect(paidIn(stepError(step, failed, 2, outcomes, entries('b', 'c')))).toEqual([
			'a',
			'b',
			'c',
		]);
	});

	it('does not count the generation that the error is about', () => {
		const own = failed.with({ charge: 'paid', code: 'timeout' });
		const { description } = stepError(step, own, 0, [{ kind: 'error', error: own }]);
		expect(description).not.toMatch(/already been charged|Refunded/);
		expect(description).toMatch(/Charged: x \(failed\)\.$/);
	});

	it('does not mention other items if there are none', () => {
		const error = stepError(step, failed, 0, [{ kind: 'error', error: failed }]);
		expect(error.description).toBe(
			'The credits were refunded. Change the prompt. Code: generation_failed. Refunded: x.',
		);
	});
});
