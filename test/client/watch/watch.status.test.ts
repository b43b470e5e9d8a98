import fc from 'fast-check';

import type { ProbeResponse } from '../../../client/ports';
import { seededRandom } from '../../../sandbox/basics/random';
import { networkError, refusal } from '../../support/answers';
import { batch, errorIn, inShort, Step, waitingFor } from '../../support/step';
import { anySeed, auto, expectScheduled, INTERVAL_MS, seconds, stepOf } from './watched';

describe('the status', () => {
	const nobody = () => {
		throw networkError('ECONNREFUSED', 'connect');
	};
	const answers: Array<() => ProbeResponse> = [
		() => ({ status: 404, oneByte: false }),
		() => ({ status: 206, oneByte: true }),
		() => ({ status: 302, oneByte: false }),
		nobody,
	];
	const looks = [
		() => undefined,
		() => refusal(503, 'service_unavailable'),
		() => ({ status: 200, body: '{"id":"gen' }),
		() => {
			throw networkError('ECONNRESET', 'read');
		},
	];

	it('is always checked at most four times outside of the poll interval', async () => {
		const schedule = fc.record({
			readiness: fc.constantFrom('auto', 'status', 'outputUrl'),
			interval: fc.constantFrom(1000, 3000, 20_000),
			durations: fc.array(seconds(0.1, 60), { minLength: 1, maxLength: 4 }),
			probes: fc.array(fc.constantFrom(...answers), { maxLength: 20 }),
			looks: fc.array(fc.constantFrom(...looks), { maxLength: 6 }),
			seed: anySeed,
		});
		await fc.assert(
			fc.asyncProperty(schedule, async ({ readiness, interval, durations, seed, ...ordered }) => {
				const step = new Step({ pollIntervalMs: interval, stopOnError: false });
				step.random = seededRandom(seed);
				step.fake.durationMs = (prompt) => durations[Number(prompt.slice(1))];
				step.fake.orderLooks(...ordered.looks);
				const usual = step.fake.storage;
				step.fake.storage = (...args) => ordered.probes.shift()?.() ?? usual(...args);
				const { outcomes } = await step.run(batch(durations.length, { readiness }));
				expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
				expectScheduled(step.fake, interval);
			}),
		);
	});

	it.each([
		[15_000, 12_000],
		[2000, 1300],
	])('is checked just before a timeout of %d ms', async (timeoutMs, duration) => {
		const step = stepOf(duration);
		step.fake.failure = () => 'out of paint';
		const { outcomes } = await step.run(batch(1, { ...auto, timeoutMs }));
		expect(errorIn(outcomes[0]).code).toBe('generation_failed');
	});

	it('whose check is interrupted by a Stop is no error', async () => {
		const step = stepOf(60_000);
		step.stopAt(11_000);
		step.fake.orderLooks(async () => {
			await step.time.sleep(INTERVAL_MS, step.cancel.signal);
			throw networkError('ECONNABORTED');
		});
		const { outcomes } = await step.run(batch(1, auto));
		expect(outcomes.map(inShort)).toEqual(['stopped generation-1']);
	});

	it.each([
		['a page of a proxy', { status: 404, body: 'default backend - 404' }],
		['a page of a firewall', { status: 403, body: '<html>Just a moment…</html>' }],
		['a replica that lags', refusal(404, 'generation_not_found')],
	])('of a known generation is requested again after a 403 or 404: %s', async (_, response) => {
		const step = stepOf(20_000);
		step.fake.orderLooks(() => response);
		const { outcomes } = await step.run(batch(3, { readiness: 'status' }));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3].map((n) => `completed generation-${n}`));
	});

	it.each([
		['a page of a proxy', [() => ({ status: 404, body: 'default backend - 404' })]],
		['a replica that lags', [() => refusal(404, 'generation_not_found')]],
		['a service that restarts', Array.from({ length: 5 }, () => nobody)],
	])('of a generation known before a sleep is requested again, too: %s', async (_, answered) => {
		const step = stepOf(20_000);
		await step.run(batch(1, { wait: false }));
		step.sleptSince(step.time.now(), 'generation-1');
		await step.time.run(step.time.sleep(70_000));
		step.fake.orderLooks(...answered);
		const { outcomes } = await step.runAgain([waitingFor('generation-1')]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
	});

	it('of a known generation that returns 404 for minutes is an error with its id', async () => {
		const step = stepOf(200_000);
		const denied = () => refusal(404, 'generation_not_found');
		step.fake.orderLooks(...Array.from({ length: 20 }, () => denied));
		const { outcomes } = await step.run(batch(1, { readiness: 'status' }));
		const error = errorIn(outcomes[0]);
		expect([error.code, error.generation?.id]).toEqual(['generation_not_found', 'generation-1']);
		expect(step.elapsed).toBeGreaterThan(30_000);
		expect(step.elapsed).toBeLessThan(150_000);
	});

	it('alone is checked with the readiness Status', async () => {
		const step = stepOf(40_000);
		await step.run(batch(3, { readiness: 'status' }));
		expect(step.fake.probed).toEqual([]);
	});

	it('is not checked with the readiness Output URL, which is probed every poll interval', async () => {
		const step = stepOf(10_000);
		const { outcomes } = await step.run(batch(1, { readiness: 'outputUrl' }));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.looksAt('generation-1')).toEqual([]);
		const { startedAt } = step.fake.made[0];
		expect(step.fake.probed.map(({ at }) => at - startedAt)).toEqual([3000, 6000, 9000, 12_000]);
	});
});
