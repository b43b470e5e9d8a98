import { errorTable } from '../../sandbox/basics/errors';
import type { ErrorName } from '../../sandbox/basics/errors';
import { VirtualSandbox } from './virtual';
import type { ErrorBody } from './virtual';

const tooLarge = `data:image/png;base64,${'A'.repeat(6_300_000)}`;

/** The rows of spec 7 that occur without faults, each with a request that causes it. */
const natural: Partial<
	Record<ErrorName, (sandbox: VirtualSandbox) => { status: number; body: unknown }>
> = {
	invalid_request: (sandbox) => sandbox.send('POST', '/v1/images/generations', '{"model":'),
	invalid_parameter: (sandbox) => sandbox.image({ size: '9000x9000' }),
	authentication_error: (sandbox) => sandbox.send('GET', '/v1/models', undefined, 'revoked'),
	insufficient_credits: (sandbox) => sandbox.image({}, 'empty'),
	forbidden: (sandbox) => sandbox.image({}, 'readOnly'),
	CONNECTION_PAUSED: (sandbox) => {
		const app = sandbox.connectApp();
		sandbox.service.apps.change(app.name, { paused: true });
		return sandbox.image({}, app);
	},
	model_not_found: (sandbox) => sandbox.image({ model: 'nothing' }),
	generation_not_found: (sandbox) => sandbox.send('GET', '/v1/generations/nothing'),
	payload_too_large: (sandbox) =>
		sandbox.image({ inputs: [{ type: 'image', source: 'data', value: tooLarge }] }),
	unsupported_parameter: (sandbox) => sandbox.video({ model: 'lumen-loop', seed: 1 }),
	CONCURRENCY_LIMIT_REACHED: (sandbox) => {
		sandbox.service.occupy('main', 10);
		return sandbox.image();
	},
	CONNECTION_LIMIT_REACHED: (sandbox) => {
		const app = sandbox.connectApp();
		sandbox.service.apps.change(app.name, { dailyLimit: 5 });
		return sandbox.image({}, app);
	},
	invalid_api_key: (sandbox) => sandbox.send('GET', '/v1/models', undefined, 'revokedAlternate'),
	expired_api_key: (sandbox) => sandbox.send('GET', '/v1/models', undefined, 'expired'),
	insufficient_credits_403: (sandbox) => sandbox.image({}, 'emptyForbidden'),
	not_found: (sandbox) => sandbox.send('GET', '/v1/nothing'),
};

const names = Object.keys(errorTable) as ErrorName[];
const byOrderOnly: ErrorName[] = [
	'generation_in_progress',
	'server_error',
	'model_unavailable',
	'service_unavailable',
];

function expectRow(reply: { status: number; body: unknown }, name: ErrorName): void {
	const { status, code, type } = errorTable[name];
	const { error } = reply.body as ErrorBody;
	expect(reply.status).toBe(status);
	if (name === 'invalid_api_key') {
		expect(error).toEqual({ type: 'invalid_api_key', message: expect.any(String), code: 401 });
	} else {
		expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
		expect(error).toMatchObject({ code, type, message: expect.stringMatching(/\S/) });
	}
}

describe('the error table of spec 7', () => {
	it('has sixteen rows, three alternate forms, and one for unknown addresses', () => {
		expect(names).toHaveLength(16 + 3 + 1);
		expect(names.filter((name) => !natural[name])).toEqual(byOrderOnly);
	});

	it.each(Object.keys(natural) as ErrorName[])('%s occurs without a fault', (name) => {
		const sandbox = new VirtualSandbox();
		const reply = natural[name]?.(sandbox);
		expectRow(reply ?? { status: 0, body: {} }, name);
	});

	it.each(names)('%s occurs once when ordered', (name) => {
		const sandbox = new VirtualSandbox();
		sandbox.service.faults.order({ on: 'create', action: { kind: 'error', code: name } });
		expectRow(sandbox.image(), name);
		expect(sandbox.image().status).toBe(200);
		expect(sandbox.service.books.totals.created).toBe(1);
	});

	it.each(names)('%s occurs when a prompt requests it', (name) => {
		const sandbox = new VirtualSandbox();
		expectRow(sandbox.image({ prompt: `A cat [reject: ${name}]` }), name);
	});

	it('a prompt can request a limited number of rejections', () => {
		const sandbox = new VirtualSandbox();
		const prompt = 'A cat [reject: model_unavailable 2]';
		const statuses = [1, 2, 3].map(() => sandbox.image({ prompt }).status);
		expect(statuses).toEqual([502, 502, 200]);
	});

	it('the message of 402 states what remains and what is required', () => {
		const sandbox = new VirtualSandbox();
		sandbox.service.accounts.setCredits('main', 5);
		const { error } = sandbox.image().body as ErrorBody;
		expect(error.message).toBe('Insufficient credits: 5 remaining, 8 required.');
	});

	it.each([
		['no header', {}],
		['another scheme', { authorization: 'Basic abc' }],
		['a malformed key', { authorization: 'Bearer svc_live_123' }],
		['an unknown key', { authorization: `Bearer svc_live_${'0'.repeat(40)}` }],
	])('401 for %s', (_case, headers) => {
		const { service } = new VirtualSandbox();
		const reply = service.handle({ method: 'GET', path: '/v1/models', headers });
		expectRow(reply, 'authentication_error');
	});

	it('revocation takes effect immediately', () => {
		const sandbox = new VirtualSandbox();
		const { id } = sandbox.created();
		sandbox.service.accounts.keyOf('main').state = 'revoked';
		expect(sandbox.send('GET', `/v1/generations/${id}`).status).toBe(401);
		expect(sandbox.look(id, 'second').id).toBe(id);
	});
});
