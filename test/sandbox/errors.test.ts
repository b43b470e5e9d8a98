import { errorTable } from '../../sandbox/basics/errors';
import type { ErrorName } from '../../sandbox/basics/errors';
import { VirtualSandbox } from './virtual';
import type { ErrorBody } from './virtual';

const tooLarge = `data:image/png;base64,${'A'.repeat(6_300_000)}`;

type Reply = { status: number; body: unknown };

/** The rows of spec 7 that occur without faults, each with a request that causes it. */
const natural: Partial<Record<ErrorName, (sandbox: VirtualSandbox) => Reply>> = {
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

function expectRow(reply: Reply, name: ErrorName): void {
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

const messageOf = ({ body }: Reply) => (body as ErrorBody).error.message;

describe('the error table of spec 7', () => {
	it('has sixteen rows, three alternate forms, and one for unknown addresses', () => {
		expect(names).toHaveLength(16 + 3 + 1);
		expect(Object.keys(natural)).toHaveLength(names.length - 4);
	});

	it.each(names)('%s occurs by itself, once as a fault, and when a prompt requests it', (name) => {
		const cause = natural[name];
		if (cause) expectRow(cause(new VirtualSandbox()), name);
		const sandbox = new VirtualSandbox();
		sandbox.service.faults.order({ on: 'create', action: { kind: 'error', code: name } });
		expectRow(sandbox.image(), name);
		expect(sandbox.image().status).toBe(200);
		expectRow(sandbox.image({ prompt: `A cat [reject: ${name}]` }), name);
		expect(sandbox.service.books.totals.created).toBe(1);
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

describe('the message of a rejection (spec 7, 8.1)', () => {
	it('of 402 states what remains and what is required', () => {
		const sandbox = new VirtualSandbox();
		sandbox.service.accounts.setCredits('main', 5);
		expect(messageOf(sandbox.image())).toBe('Insufficient credits: 5 remaining, 8 required.');
	});
});
