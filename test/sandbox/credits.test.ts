import fc from 'fast-check';
import type { KeyName } from '../../sandbox/accounts/accounts';
import type { ConnectedApp } from '../../sandbox/accounts/connected-apps';
import { logNormal } from '../../sandbox/generations/timing';
import { VirtualSandbox } from './virtual';

describe('credits', () => {
	it('are returned in the format of spec 2.3 and 2.4', () => {
		const sandbox = new VirtualSandbox();
		sandbox.created();
		sandbox.video();
		sandbox.created({ prompt: '[fail]' });
		sandbox.clock.pass(60);
		expect(sandbox.send('GET', '/v1/credits/balance').body).toEqual({
			object: 'credit_balance',
			balance: 99_952,
			subscription_active: true,
			lifetime_purchased: 100_000,
			lifetime_used: 48,
		});
		expect(sandbox.send('GET', '/v1/credits/summary').body).toEqual({
			object: 'credit_summary',
			balance: 99_952,
			period_start: '2025-12-03T03:05:05.678Z',
			period_end: '2026-01-02T03:05:05.678Z',
			period_used: 48,
			by_media_type: { image: 8, video: 40 },
			by_model: [
				{ model: 'aurora-image-1', credits_used: 8 },
				{ model: 'aurora-motion-1', credits_used: 40 },
			],
		});
	});

	it.each([
		[4.4, 110],
		[4.41, 111],
		[0.000_000_001, 1],
	])(
		'for a video of %d seconds are rounded up, but not a floating-point error',
		(duration, price) => {
			const sandbox = new VirtualSandbox();
			sandbox.video({ model: 'pinhole-cinema-2', duration });
			expect(sandbox.service.books.totals.charged).toBe(price);
		},
	);

	it('used more than 30 days ago are not in the summary', () => {
		const sandbox = new VirtualSandbox();
		sandbox.created();
		sandbox.clock.pass(31 * 24 * 3600);
		const summary = sandbox.send('GET', '/v1/credits/summary').body;
		expect(summary).toMatchObject({ period_used: 0, by_model: [], balance: 99_992 });
	});

	it('are limited per 24 hours for a connected app, but never for an API key', () => {
		const sandbox = new VirtualSandbox();
		const make = (from: KeyName | ConnectedApp) =>
			sandbox.video({ duration: 8, resolution: '1080p' }, from).status;
		expect(Array.from({ length: 5 }, () => make('hero'))).toEqual(Array(5).fill(200));
		const app = sandbox.connectApp();
		expect([make(app), make(app), make(app), make(app)]).toEqual([200, 200, 200, 429]);
		expect([make('main'), make(sandbox.connectApp('another'))]).toEqual([200, 200]);
		sandbox.clock.pass(24 * 3600);
		expect(make(app)).toBe(200);
	});

	it('always add up, and the limit always holds', () => {
		const step = fc.oneof(
			fc.record({ kind: fc.constant('image' as const), fails: fc.boolean() }),
			fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 0, max: 15 }) }),
			fc.record({ kind: fc.constant('lose' as const) }),
		);
		fc.assert(
			fc.property(fc.array(step, { maxLength: 60 }), fc.integer(), (steps, seed) => {
				const sandbox = new VirtualSandbox({ seed, generationSeconds: logNormal(8, 0.8) });
				const { service } = sandbox;
				for (const each of steps) {
					if (each.kind === 'pass') sandbox.clock.pass(each.seconds);
					if (each.kind === 'image') sandbox.image({ prompt: each.fails ? '[fail]' : 'x' });
					if (each.kind === 'lose') {
						service.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
						sandbox.image();
					}
					expect(service.runningOf('main')).toBeLessThanOrEqual(10);
					const { charged, refunded } = service.books.totals;
					expect(sandbox.balance()).toBe(100_000 - charged + refunded);
				}
			}),
		);
	});
});
