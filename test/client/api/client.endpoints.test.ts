import fc from 'fast-check';

import type { ServiceRequest } from '../../../client/ports';
import type { ServiceClient } from '../../../client/api/client';
import { answer, wireGeneration } from '../../support/answers';
import { IMAGE, NAME, readable, scripted } from '../../support/scripted-service';

const NAMED = { 'Idempotency-Key': NAME };

const never = new AbortController().signal;

describe('the six endpoints', () => {
	it.each<[string, (service: ServiceClient) => Promise<unknown>, ServiceRequest]>([
		[
			'an image is created',
			async (service) => await service.create(IMAGE, NAME),
			{ method: 'POST', path: '/v1/images/generations', body: IMAGE.body, headers: NAMED },
		],
		[
			'a video is created',
			async (service) => await service.create({ type: 'video', body: { prompt: 'A boat' } }, NAME),
			{
				method: 'POST',
				path: '/v1/videos/generations',
				body: { prompt: 'A boat' },
				headers: NAMED,
			},
		],
		[
			'the status of a generation is requested, past all caches',
			async (service) => await service.status('0b8f-1', never),
			{
				method: 'GET',
				path: '/v1/generations/0b8f-1',
				headers: { 'Cache-Control': 'no-cache' },
			},
		],
		[
			'all models are listed',
			async (service) => await service.models('all'),
			{ method: 'GET', path: '/v1/models', query: {} },
		],
		[
			'models of a type are listed',
			async (service) => await service.models('video'),
			{ method: 'GET', path: '/v1/models', query: { type: 'video' } },
		],
		[
			'the balance is read',
			async (service) => await service.balance(),
			{ method: 'GET', path: '/v1/credits/balance' },
		],
		[
			'the summary is read',
			async (service) => await service.summary(),
			{ method: 'GET', path: '/v1/credits/summary' },
		],
	])('%s with exactly this request', async (_, call, request) => {
		const { time, seen, service } = scripted(readable);
		await time.run(call(service));
		const { prompt } = (request.body ?? {}) as { prompt?: string };
		expect(seen).toEqual([{ ...request, prompt, at: 0 }]);
	});

	it('return the service’s entries unchanged', async () => {
		const models = [{ id: 'a', brand_new: 1 }, { id: 'b' }];
		const listed = scripted(answer({ object: 'list', data: models }));
		expect(await listed.time.run(listed.service.models('all'))).toEqual(models);
		const credits = scripted(answer({ object: 'credit_balance', balance: 7 }));
		const balance = await credits.time.run(credits.service.balance());
		expect(balance).toEqual({ object: 'credit_balance', balance: 7 });
	});

	it('keep an id within one path segment', async () => {
		await fc.assert(
			fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (id) => {
				const { time, seen, service } = scripted(answer(wireGeneration({ id })));
				await time.run(service.status(id, never));
				const segments = seen[0].path.split('/');
				expect(segments).toHaveLength(4);
				expect(decodeURIComponent(segments[3])).toBe(id);
				expect(segments[3]).not.toMatch(/[?#\s]/);
			}),
		);
	});
});
