import { inspect } from 'util';

import { NodeApiError } from 'n8n-workflow';

import { errorFromResponse, GenerationError } from '../../client/wire/errors';
import type { GenerationItem } from '../../client/wire/generation';
import { Ledger, uncertainCharge } from '../../client/paying/ledger';
import type { Outcome } from '../../client/jobs/outcome';
import { nodeError, stepError } from '../../nodes/shared/node-error';
import { refusal } from '../support/answers';
import { contextOf } from '../support/context';

const { context } = contextOf();

const failed = new GenerationError({
	title: 'The generation failed. Out of paint',
	description: 'The credits were refunded',
	code: 'generation_failed',
	charge: 'refunded',
	generation: { id: 'x', status: 'failed' },
});

function done(id: string, status: string): Outcome<null> {
	return { kind: 'done', generation: { id, status } as GenerationItem, output: null };
}

describe('an error as n8n shows it', () => {
	it('has title, description, status, code and item', () => {
		const error = nodeError(context, failed.with({ status: 422 }), 3);
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error).toMatchObject({
			message: 'The generation failed. Out of paint',
			description: 'The credits were refunded. Code: generation_failed.',
			httpCode: '422',
			context: { itemIndex: 3, code: 'generation_failed' },
		});
		expect(error.node.name).toBe('Pictures');
	});

	it.each([400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503])(
		'keeps its own title and advice at %i: n8n has others for the status',
		(status) => {
			const own = errorFromResponse(refusal(status, 'brand_new', 'Words'), true);
			const error = nodeError(context, own, 0);
			expect(error.message).toBe(own.message);
			expect(error.description).toContain(own.description);
			expect(error.httpCode).toBe(String(status));
		},
	);

	it.each(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EACCES', 'ECONNRESET', 'getaddrinfo'])(
		'keeps its own title where the service speaks of %s',
		(word) => {
			const title = `The generation failed. Upstream said ${word} and 404`;
			expect(nodeError(context, failed.with({ title }), 0).message).toBe(title);
		},
	);

	it('tells an agent all of it in the message, which is all that an agent sees', () => {
		const tool = contextOf({ isTool: true });
		const error = nodeError(tool.context, failed, 0);
		expect(error.message).toBe(
			'The generation failed. Out of paint. The credits were refunded. Code: generation_failed.',
		);
	});

	it('has no status where no answer came', () => {
		expect(nodeError(context, failed, 0).httpCode).toBeNull();
	});
});

describe('the error of a step that stops', () => {
	it('names the item, the cause and its code', () => {
		const error = stepError(context, failed.with({ status: 500 }), 2, []);
		expect(error.message).toBe(failed.message);
		expect(error.description).toBe('The credits were refunded. Code: generation_failed, HTTP 500.');
		expect(error.context).toMatchObject({ itemIndex: 2, code: 'generation_failed' });
	});

	it('names every generation that is paid for, and its status', () => {
		const outcomes: Array<Outcome<null>> = [
			done('a', 'completed'),
			{ kind: 'error', error: failed },
			{ kind: 'stopped', generation: { id: 'b', status: 'processing' } },
			{ kind: 'stopped', generation: { id: 'c' } },
			{ kind: 'stopped', generation: null },
		];
		const error = stepError(context, failed, 1, outcomes);
		expect(error.description).toContain(
			'Already paid for: a (completed), b (processing), c. Retry On Fail, and Retry in the list of executions, take these up without paying again, unless parameters are changed; a new execution would pay anew.',
		);
		expect(error.context.generations).toEqual([
			{ id: 'a', status: 'completed' },
			{ id: 'b', status: 'processing' },
			{ id: 'c', status: null },
		]);
		expect(error.description).not.toContain('more item');
	});

	it('does not advise a retry within a suspended wait: n8n would only show the error again', () => {
		const { context: asleep } = contextOf({ parameters: { waitingSince: 1 } });
		const { description } = stepError(asleep, failed, 0, [done('a', 'completed')]);
		expect(description).toContain('Wait for these again by their IDs in a new execution');
		expect(description).not.toContain('Retry On Fail');
	});

	it('names what earlier tries have paid for, each once', () => {
		const kept = { '0:0:x': { id: 'a', status: 'pending' }, '0:1:y': { id: 'b' } };
		const outcomes: Array<Outcome<null>> = [done('a', 'completed')];
		const error = stepError(context, failed, 1, outcomes, new Ledger(kept, 0));
		expect(error.context.generations).toEqual([
			{ id: 'a', status: 'completed' },
			{ id: 'b', status: null },
		]);
	});

	it('names the other items that may have been charged, the answers being lost', () => {
		const lost: Outcome<null> = { kind: 'error', error: uncertainCharge(null) };
		const outcomes: Array<Outcome<null>> = [lost, done('a', 'completed'), lost, lost];
		expect(stepError(context, uncertainCharge(null), 2, outcomes).description).toContain(
			'It is not known whether these items were charged: 0, 3.',
		);
		expect(stepError(context, failed, 1, [done('a', 'completed')]).description).not.toContain(
			'not known',
		);
	});

	it.each([
		[1, null],
		[2, '1 more item failed'],
		[4, '3 more items failed'],
	])('counts the other failures: of %i in all', (count, words) => {
		const outcomes = Array.from(
			{ length: count },
			(): Outcome<null> => ({
				kind: 'error',
				error: failed,
			}),
		);
		const { description } = stepError(context, failed, 0, outcomes);
		if (words === null) expect(description).not.toContain('more item');
		else expect(description).toContain(words);
	});

	it('says nothing of payments where there was none', () => {
		const { description, context: details } = stepError(context, failed, 0, []);
		expect(description).not.toContain('paid');
		expect(details.generations).toEqual([]);
	});
});

describe('the request, which holds the key,', () => {
	it('is in no error: only what the rules have read of the answer is', () => {
		const secret = 'svc_live_secret';
		const answer = {
			...refusal(401, 'authentication_error', 'The key is not valid'),
			config: { headers: { Authorization: `Bearer ${secret}` } },
			request: { key: secret },
		};
		const error = stepError(context, errorFromResponse(answer, true), 0, []);
		const shown = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error)];
		expect(shown.join('')).not.toContain(secret);
	});
});
