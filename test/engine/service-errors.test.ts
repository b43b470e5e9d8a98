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

/** How a step meets an error of the service. */
interface Cause {
	/** Creates the condition. */
	prepare?: () => void;
	key?: KeyName;
	parameters?: INodeParameters;
	node?: NodeName;
}

const options = (name: string, value: string) => ({ parameters: { options: { [name]: value } } });

/**
 * Spec 7: the sixteen rows and the three alternate forms. By default, a prompt makes the sandbox respond with the error:
 * a node always has a key, and only a connected app has a daily limit and can be paused (spec 5.8).
 */
const rows: Array<[status: number, code: string, title: RegExp, Cause?]> = [
	[400, 'invalid_request', /^Invalid request/],
	[400, 'invalid_parameter', /^Invalid parameter: .*4000x4000$/, options('size', '4000x4000')],
	[401, 'authentication_error', /API key was rejected/, { key: 'revoked' }],
	[402, 'insufficient_credits', /^Not enough credits: ./, { key: 'empty' }],
	[403, 'forbidden', /lacks permission/, { key: 'readOnly' }],
	[403, 'CONNECTION_PAUSED', /connected app is paused/],
	[
		404,
		'model_not_found',
		/^Model none-such not found$/,
		{ parameters: { model: byId('none-such') } },
	],
	[
		404,
		'generation_not_found',
		/^“none-such” is not a generation ID$/,
		{ node: 'waitForCompletion', parameters: { generationId: 'none-such' } },
	],
	[409, 'generation_in_progress', /conflicting generation/],
	[413, 'payload_too_large', /too large/],
	[422, 'unsupported_parameter', / does not support Kind of Edit$/, options('editMode', 'inpaint')],
	[
		429,
		'CONCURRENCY_LIMIT_REACHED',
		/No free slot: 10 generations are running/,
		{
			prepare: () => stage.sandbox.service.occupy('main', 10),
			parameters: { runOptions: { timeout: 10 } },
		},
	],
	[
		429,
		'CONNECTION_LIMIT_REACHED',
		/daily credit limit of the connected app is reached$/,
		{
			prepare: () => {
				const action = { kind: 'error', code: 'CONNECTION_LIMIT_REACHED' } as const;
				stage.sandbox.faults.order({ on: 'create', action });
			},
		},
	],
	[500, 'server_error', /internal error/],
	[502, 'model_unavailable', /temporarily unavailable/],
	[503, 'service_unavailable', /down for maintenance/],
	[401, 'invalid_api_key', /API key was rejected/, { key: 'revokedAlternate' }],
	[401, 'expired_api_key', /expired/, { key: 'expired' }],
	[403, 'insufficient_credits', /Not enough credits/, { key: 'emptyForbidden' }],
];

it.each(rows)(
	'%d %s becomes a readable error, without the key',
	async (status, code, title, cause = {}) => {
		const { node = 'imageGeneration', parameters, key } = cause;
		cause.prepare?.();
		const items = prompts(Object.keys(cause).length === 0 ? `[reject: ${code}]` : 'A boat');
		const run = await stage.run(node, parameters, { key, items });
		expect(run.error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringMatching(title),
			description: expect.stringMatching(new RegExp(`Code: ${code}, HTTP ${status}\\.$`)),
			httpCode: String(status),
			context: { itemIndex: 0, code },
		});
		expectNoKeyIn(run);
		expect(stage.sandbox.books.totals.created).toBe(0);
	},
);

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
});
