import { CancelledError } from '../../../client/api/errors';
import type { ServiceResponse } from '../../../client/ports';
import type { ServiceClient } from '../../../client/api/client';
import { uncertainCharge } from '../../../client/orders/order-errors';
import { answer, networkError, refusal, wireGeneration } from '../../support/answers';
import { IMAGE, NAME, readable, scripted, thrownBy } from '../../support/scripted-service';

/** Transient, and certainly not charged. */
const PASSING: Array<[string, ServiceResponse | Error]> = [
	['500 server_error', refusal(500, 'server_error')],
	['a 429 with an unknown code', refusal(429, 'too_fast')],
	['a refused connection', networkError('ECONNREFUSED', 'connect')],
];

/** Transient, and possibly charged if the request creates. */
const UNCERTAIN: Array<[string, ServiceResponse | Error]> = [
	['a 502 of a proxy', { status: 502, body: '<html>Bad Gateway</html>' }],
	['a reset', networkError('ECONNRESET')],
	['a timeout', networkError('ECONNABORTED')],
];

/** Permanent. */
const LASTING: Array<[string, ServiceResponse | Error]> = [
	['401 authentication_error', refusal(401, 'authentication_error')],
	['402 insufficient_credits', refusal(402, 'insufficient_credits')],
	['429 CONNECTION_LIMIT_REACHED', refusal(429, 'CONNECTION_LIMIT_REACHED')],
	['a redirect', { status: 302, body: '' }],
	['a certificate that is not accepted', networkError('CERT_HAS_EXPIRED')],
];

/** A 2xx from a proxy, or one whose body was cut off. */
const UNREADABLE: Array<[string, ServiceResponse]> = [
	['an HTML page', answer('<html>Welcome</html>')],
	['an empty response', answer(undefined)],
];

/** The alternate error format of spec 7. */
const keyRefusalInNumbers: ServiceResponse = {
	status: 401,
	body: { error: { type: 'invalid_api_key', message: 'Key revoked', code: 401 } },
};

describe('a creating request', () => {
	it.each([...PASSING, ...LASTING])('is sent once, and not charged: %s', async (_, failure) => {
		const { time, seen, service } = scripted(failure, answer(wireGeneration()));
		const error = await time.run(thrownBy(service.create(IMAGE, NAME)));
		expect([seen.length, error.charge]).toEqual([1, 'none']);
	});

	it.each([...UNCERTAIN, ...UNREADABLE])(
		'is sent once, and may have been charged: %s',
		async (_, failure) => {
			const { time, seen, service } = scripted(failure, answer(wireGeneration()));
			const error = await time.run(thrownBy(service.create(IMAGE, NAME)));
			expect([seen.length, error.charge]).toEqual([1, 'unknown']);
		},
	);

	it.each(['insufficient_credits', 'model_not_found', 'CONCURRENCY_LIMIT_REACHED', 'server_error'])(
		'is rejected if a 200 without an id has the error %s, with the words of the service',
		async (code) => {
			const body = { error: { code, message: 'You have 3 credits' } };
			const { time, service } = scripted(answer(body));
			const error = await time.run(thrownBy(service.create(IMAGE, NAME)));
			expect(error).toMatchObject({ code, charge: 'none', serviceMessage: 'You have 3 credits' });
		},
	);

	it.each<[string, unknown]>([
		['an error with an unknown code', { error: { code: 'E7', message: 'Out of paint' } }],
		['an error that is a text', { error: 'Out of paint' }],
		['another format', { code: 402, msg: 'Out of paint' }],
		['a text', 'Out of paint'],
		['a page', '<html><h1>Out of paint</h1></html>'],
	])(
		'may have been charged if a 200 has no id, and quotes what the service said: %s',
		async (_, body) => {
			const { time, service } = scripted(answer(body));
			const error = await time.run(thrownBy(service.create(IMAGE, NAME)));
			expect(error).toMatchObject({ charge: 'unknown', serviceMessage: 'Out of paint' });
			expect(uncertainCharge(error).description).toContain('The service says: Out of paint.');
		},
	);

	it.each<[string, ServiceResponse]>([
		['401 expired_api_key', refusal(401, 'expired_api_key')],
		['401 with a numeric code', keyRefusalInNumbers],
		['401 of a proxy', { status: 401, body: '<html>Unauthorized</html>' }],
		['403 forbidden', refusal(403, 'forbidden')],
	])('is not charged if a key that worked before is rejected: %s', async (_, refused) => {
		const { time, stop, service } = scripted(answer(wireGeneration()), refused);
		await time.run(service.status('x', stop.signal));
		const error = await time.run(thrownBy(service.create(IMAGE, NAME)));
		expect(error).toMatchObject({ status: refused.status, charge: 'none', fatalForStep: true });
	});

	it('is not sent once the signal has aborted', async () => {
		const { time, stop, seen, service } = scripted(answer(wireGeneration()));
		stop.abort();
		await expect(time.run(service.create(IMAGE, NAME))).rejects.toBeInstanceOf(CancelledError);
		expect(seen).toEqual([]);
	});

	it('whose connection breaks during a stop has an unknown charge, and is not canceled', async () => {
		const { time, stop, service } = scripted(networkError('ECONNRESET'));
		const task = service.create(IMAGE, NAME);
		stop.abort();
		expect((await time.run(thrownBy(task))).charge).toBe('unknown');
	});
});

describe('a reading request', () => {
	const reads: Array<[string, (service: ServiceClient) => Promise<unknown>]> = [
		['models', async (service) => await service.models('all')],
		['balance', async (service) => await service.balance()],
		['summary', async (service) => await service.summary()],
	];

	describe.each(reads)('of %s', (_, read) => {
		it.each([...PASSING, ...UNCERTAIN])('is sent again after %s', async (_name, failure) => {
			const { time, seen, service } = scripted(failure, failure, readable);
			await time.run(read(service));
			expect(seen.map(({ at }) => at)).toEqual([0, 1000, 3000]);
		});

		it.each(LASTING)('is never sent again after %s', async (_name, failure) => {
			const { time, seen, service } = scripted(failure, answer(wireGeneration()));
			const error = await time.run(thrownBy(read(service)));
			expect([seen.length, error.charge]).toEqual([1, 'none']);
		});

		it('is canceled if it breaks because of a stop', async () => {
			const { time, stop, seen, service } = scripted(networkError('ECONNABORTED'));
			const task = read(service);
			stop.abort();
			await expect(time.run(task)).rejects.toBeInstanceOf(CancelledError);
			expect(seen).toHaveLength(1);
		});
	});

	describe.each(reads.slice(1))('of %s', (_, read) => {
		it.each<[string, ServiceResponse]>([
			...UNREADABLE,
			['an object from another service', answer({ object: 'list', items: [] })],
			['a list that is not an array', answer({ data: {}, balance: '7' })],
			['fields that are null', answer({ data: null, balance: null })],
		])('fails because the Base URL is wrong: %s', async (_name, unreadable) => {
			const { time, seen, service } = scripted(unreadable, readable);
			const error = await time.run(thrownBy(read(service)));
			expect(error).toMatchObject({ code: 'unreadable_answer', charge: 'none', retry: 'never' });
			expect(seen).toHaveLength(1);
		});
	});

	it('fails after a minute if the Base URL has never answered', async () => {
		const { time, seen, service } = scripted(networkError('ECONNREFUSED', 'connect'));
		const error = await time.run(thrownBy(service.balance()));
		expect(error).toMatchObject({ code: 'connection_failed', retry: 'backoff' });
		expect(seen.map(({ at }) => at)).toEqual([0, 1000, 3000, 7000, 15_000, 30_000, 45_000]);
		await time.run(time.sleep(15_000));
		expect(await time.run(thrownBy(service.balance()))).toMatchObject({ fatalForStep: true });
		expect(seen).toHaveLength(8);
	});
});
