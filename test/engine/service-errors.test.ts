import type { INodeParameters } from 'n8n-workflow';

import type { KeyName } from '../../sandbox/accounts/accounts';
import type { Run } from '../../tools/engine';
import { everythingIn } from '../support/everything';
import { nodeNames, type NodeName } from '../support/workflow';
import { byId, openStage, prompts } from './stage';

const stage = openStage();
beforeEach(() => stage.setPace(250));

/** Checks that a run contains neither the key nor any part of it beyond the prefix. */
function expectNoKeyIn(run: Run): void {
	const all = everythingIn([run.error, run.runData, run.contextData, run.logs, run.hints('Step')]);
	expect(all).toContain('Step');
	for (const key of Object.values(stage.sandbox.keys)) {
		expect(all).not.toContain(key.slice('svc_live_'.length, 20));
	}
	expect(all).not.toContain('Bearer ');
}

interface Row {
	code: string;
	status: number;
	/** The expected title. */
	title: RegExp;
	/** The expected advice in the description. */
	advice: RegExp;
	/** Creates the condition for the error. */
	prepare?: () => void;
	key?: KeyName;
	prompt?: string;
	parameters?: INodeParameters;
	node?: NodeName;
}

/**
 * Spec 7: the sixteen rows and the three alternate forms. The tests make the sandbox respond with those that a key does
 * not meet: a node always has a key, and only a connected app has a daily limit and can be paused (spec 5.8).
 */
const rows: Row[] = [
	{
		code: 'invalid_request',
		status: 400,
		title: /^Invalid request/,
		advice: /required fields/,
		prompt: '[reject: invalid_request]',
	},
	{
		code: 'invalid_parameter',
		status: 400,
		title: /^Invalid parameter: .*4000x4000$/,
		advice: /Change the parameter/,
		parameters: { options: { size: '4000x4000' } },
	},
	{
		code: 'authentication_error',
		status: 401,
		title: /API key was rejected/,
		advice: /credential/,
		key: 'revoked',
	},
	{
		code: 'insufficient_credits',
		status: 402,
		title: /^Not enough credits: 1 needed, 0 left$/,
		advice: /Top up/,
		key: 'empty',
	},
	{
		code: 'forbidden',
		status: 403,
		title: /lacks permission/,
		advice: /Use an API key that may/,
		key: 'readOnly',
	},
	{
		code: 'CONNECTION_PAUSED',
		status: 403,
		title: /connected app is paused/,
		advice: /Resume it/,
		prompt: '[reject: CONNECTION_PAUSED]',
	},
	{
		code: 'model_not_found',
		status: 404,
		title: /^Model none-such not found$/,
		advice: /Choose a model/,
		parameters: { model: byId('none-such') },
	},
	{
		code: 'generation_not_found',
		status: 404,
		title: /^“none-such” is not a generation ID$/,
		advice: /Use the ID that Image Generation or Video Generation returned/,
		node: 'waitForCompletion',
		parameters: { generationId: 'none-such' },
	},
	{
		code: 'generation_in_progress',
		status: 409,
		title: /conflicting generation/,
		advice: /Wait until/,
		prompt: '[reject: generation_in_progress]',
	},
	{
		code: 'payload_too_large',
		status: 413,
		title: /too large/,
		advice: /https:\/\/ URLs/,
		prompt: '[reject: payload_too_large]',
	},
	{
		code: 'unsupported_parameter',
		status: 422,
		title: / does not support Edit Mode$/,
		advice: /Remove the option or clear the field/,
		parameters: { options: { editMode: 'inpaint' } },
	},
	{
		code: 'CONCURRENCY_LIMIT_REACHED',
		status: 429,
		title: /No free slot: 10 generations are running/,
		advice: /Nothing was charged.*within 10 s/,
		prepare: () => stage.sandbox.service.occupy('main', 10),
		parameters: { runOptions: { timeout: 10 } },
	},
	{
		code: 'CONNECTION_LIMIT_REACHED',
		status: 429,
		title: /daily credit limit of the connected app is reached$/,
		advice: /Raise the limit/,
		prepare: () => {
			const code = 'CONNECTION_LIMIT_REACHED';
			const message =
				'Daily credit limit reached: 0 of 5 credits used in the last 24 hours, this generation needs 8.';
			stage.sandbox.faults.order({ on: 'create', action: { kind: 'error', code, message } });
		},
	},
	{
		code: 'server_error',
		status: 500,
		title: /internal error/,
		advice: /Retrying did not help.*later/,
		prompt: '[reject: server_error]',
	},
	{
		code: 'model_unavailable',
		status: 502,
		title: /temporarily unavailable/,
		advice: /choose another model/,
		prompt: '[reject: model_unavailable]',
	},
	{
		code: 'service_unavailable',
		status: 503,
		title: /down for maintenance/,
		advice: /later/,
		prompt: '[reject: service_unavailable]',
	},
	{
		code: 'invalid_api_key',
		status: 401,
		title: /API key was rejected/,
		advice: /credential/,
		key: 'revokedAlternate',
	},
	{
		code: 'expired_api_key',
		status: 401,
		title: /expired/,
		advice: /new API key/,
		key: 'expired',
	},
	{
		code: 'insufficient_credits',
		status: 403,
		title: /Not enough credits/,
		advice: /Top up/,
		key: 'emptyForbidden',
	},
];

describe.each(rows)('$status $code', (row) => {
	const { code, status, title, advice, prompt = 'A boat' } = row;

	it('becomes a readable error, without the key', async () => {
		row.prepare?.();
		const { node = 'imageGeneration', parameters, key } = row;
		const run = await stage.run(node, parameters, { key, items: prompts(prompt) });
		expect(run.error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringMatching(title),
			description: expect.stringMatching(new RegExp(advice, 's')),
			httpCode: String(status),
			context: { itemIndex: 0, code },
		});
		expect(run.error).toHaveProperty(
			'description',
			expect.stringMatching(new RegExp(`Code: ${code}, HTTP ${status}\\.$`)),
		);
		expectNoKeyIn(run);
		expect(stage.sandbox.books.totals.created).toBe(0);
	});
});

describe.each(nodeNames)('%s', (node) => {
	const items = [{ prompt: 'A boat', id: 'some' }];

	it('says what is wrong with the key, and never the key', async () => {
		const run = await stage.run(node, {}, { items, key: 'expired' });
		expect(run.error).toMatchObject({
			name: 'NodeApiError',
			message: 'The API key has expired or was revoked',
			httpCode: '401',
			context: { itemIndex: 0, code: 'expired_api_key' },
		});
		expectNoKeyIn(run);
	});

	it.each(['', ' ', '\n'])(
		'removes the key if the service repeats it: %j',
		async (pastedBehind) => {
			const { main } = stage.sandbox.keys;
			const body = { error: { code: 'authentication_error', message: `What is ${main}?` } };
			const action = { kind: 'respond', status: 401, body } as const;
			stage.sandbox.faults.order({ on: 'any', times: 'always', action });
			const settings = { onError: 'continueErrorOutput' as const };
			const credential = { apiKey: main + pastedBehind };
			const run = await stage.run(node, {}, { items, settings, credential });
			expect(run.output('Step', 1)[0].json.error).toContain('What is [API key]?');
			expectNoKeyIn(run);
		},
	);

	it('does not send the key to another origin', async () => {
		const location = `${stage.sandbox.storageUrl}/v1/models`;
		const action = { kind: 'redirect', location, status: 307 } as const;
		stage.sandbox.faults.order({ on: 'any', times: 'always', action });
		const run = await stage.run(node, {}, { items });
		expect(run.error).toMatchObject({
			message: 'The Base URL redirects to another address',
			httpCode: '307',
		});
		expect(stage.sandbox.requests.all.map(({ origin }) => origin)).toEqual(['service']);
		expectNoKeyIn(run);
	});

	it('says that the service is unreachable, and what was charged', async () => {
		const credential = { baseUrl: 'http://127.0.0.1:1' };
		const run = await stage.run(node, {}, { items, credential });
		expect(run.error).toMatchObject({
			message: 'The service cannot be reached: connection refused (127.0.0.1:1)',
			description: expect.stringMatching(
				node === 'waitForCompletion' ? /Status checks charge nothing/ : /Nothing was charged/,
			),
			context: { itemIndex: 0, code: 'connection_failed' },
		});
		expectNoKeyIn(run);
	});
});

describe('a response that is not from the service', () => {
	const html = '<html><h1>403 Forbidden</h1></html>';

	it.each([
		[403, html, 'this is not the media service', 'http_403'],
		[404, undefined, 'This is not the media service', 'http_404'],
		[401, { detail: 'no' }, 'The API key was rejected', 'http_401'],
		[418, { error: { code: 'teapot', message: 'Short and stout' } }, 'rejected', 'teapot'],
		[200, html, 'not from the media service', 'unreadable_answer'],
	])('with status %d becomes an error too', async (status, body, title, code) => {
		stage.sandbox.faults.order({
			on: 'status',
			times: 'always',
			action: { kind: 'respond', status, body },
		});
		const run = await stage.run('waitForCompletion', {}, { items: [{ id: 'some' }] });
		expect(run.error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringContaining(title),
			httpCode: String(status),
			context: { itemIndex: 0, code },
		});
		expectNoKeyIn(run);
	});
});
