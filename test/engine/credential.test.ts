import type { KeyName } from '../../sandbox/accounts/accounts';
import { listModels } from '../../sandbox/models/catalogue';
import { bareNode } from '../../tools/engine/bare-node';
import { inARow } from '../../tools/engine/in-a-row';
import { Outgoing } from '../support/outgoing';
import { openStage, prompts } from './stage';

/** Another node that uses our credential, such as n8n's HTTP Request node. */
const foreign = bareNode('foreign', {
	description: {
		credentials: [{ name: 'mediaGenerationApi', required: true }],
		properties: [{ displayName: 'URL', name: 'url', type: 'string', default: '' }],
	},
	async execute() {
		const url = String(this.getNodeParameter('url', 0));
		const { httpRequestWithAuthentication } = this.helpers;
		const json = await httpRequestWithAuthentication.call(this, 'mediaGenerationApi', { url });
		return [[{ json }]];
	},
});

const stage = openStage({ extraNodes: { 'test.foreign': foreign } });

const addresses = ['', '/', '/v1', '/v1/', '//', '/v1//'];

describe('the credential', () => {
	const test = async (data: { baseUrl?: string; apiKey?: string }) =>
		await stage.engine.testCredential('mediaGenerationApi', {
			baseUrl: stage.sandbox.url,
			apiKey: stage.sandbox.keys.main,
			...data,
		});

	it.each(addresses)(
		'is green for a good key, with "%s" at the end of the address',
		async (end) => {
			expect((await test({ baseUrl: `${stage.sandbox.url}${end}` })).status).toBe('OK');
			expect(stage.sandbox.requests.all).toMatchObject([
				{ method: 'GET', path: '/v1/credits/balance', status: 200, authorization: true },
			]);
		},
	);

	describe.each(['Bearer ', 'bearer  ', ' BEARER\t', '\n', 'Bearer\n', '\ufeffBearer\u200b '])(
		'with a key that was pasted after %j, and with invisible characters',
		(before) => {
			const pasted = () => `${before}${stage.sandbox.keys.main} \u200b\n😀`;

			it('is green', async () => {
				expect((await test({ apiKey: pasted() })).status).toBe('OK');
			});

			it('serves the nodes, the list of models, and third-party nodes', async () => {
				const credential = { apiKey: pasted() };
				const run = await stage.run('generationCredits', {}, { credential });
				expect(run.output('Step')).toMatchObject([{ json: { object: 'credit_balance' } }]);
				const nodeType = 'n8n-nodes-media-generation.imageGeneration';
				const credentials = stage.credentials({ credential });
				const search = { nodeType, method: 'searchImageModels', credentials };
				expect((await stage.engine.listSearch(search)).results).not.toEqual([]);
				const url = `${stage.sandbox.url}/v1/credits/balance`;
				const step = { name: 'Step', type: 'test.foreign', parameters: { url } };
				const foreign = await stage.runWorkflow(inARow(step), { credential });
				expect(foreign.output('Step')).toMatchObject([{ json: { object: 'credit_balance' } }]);
			});
		},
	);

	it.each(['revoked', 'expired', 'revokedAlternate'] as const)(
		'is red for a key that is %s',
		async (key) => {
			expect(await test({ apiKey: stage.sandbox.keys[key] })).toEqual({
				status: 'Error',
				message: expect.stringMatching(
					/^The API key (was rejected|has expired or was revoked)\. /,
				) as string,
			});
		},
	);

	it('fails for an unknown key, no key, and an unreachable address', async () => {
		expect((await test({ apiKey: 'svc_live_nonsense' })).status).toBe('Error');
		expect((await test({ apiKey: '' })).status).toBe('Error');
		expect((await test({ baseUrl: 'http://127.0.0.1:1' })).status).toBe('Error');
	});

	it.each<[string, string | (() => string), RegExp]>([
		['connection refused', 'http://127.0.0.1:1', /connection refused \(127\.0\.0\.1:1\)/],
		['an unknown host', 'http://nowhere.invalid', /its host name (does not exist|could not be)/],
		[
			'a port without TLS',
			() => stage.sandbox.url.replace('http:', 'https:'),
			/it does not use https/,
		],
	])('says in words why the service cannot be reached: %s', async (_, baseUrl, reason) => {
		const { status, message } = await test({
			baseUrl: typeof baseUrl === 'string' ? baseUrl : baseUrl(),
		});
		expect(status).toBe('Error');
		expect(message).toMatch(/^The service cannot be reached: /);
		expect(message).toMatch(reason);
		expect(message).not.toMatch(/\bE[A-Z]{4,}/);
	});

	it('never shows the key, also if the response contains it', async () => {
		const { main } = stage.sandbox.keys;
		const body = { error: { code: 'forbidden', message: `No: ${main}` } };
		stage.sandbox.faults.order({ on: 'credits', action: { kind: 'respond', status: 403, body } });
		const { status, message } = await test({});
		expect([status, message?.includes(main)]).toEqual(['Error', false]);
	});

	it.each([
		['file:///x', 'must start with https:// or http://'],
		['', 'is empty'],
		['http://user:pass@127.0.0.1', 'must not contain a user name or password'],
		['http://127.0.0.1/?x', 'must not contain ? or #'],
	])('is red for the Base URL %j, and sends nothing', async (baseUrl, reason) => {
		const outgoing = new Outgoing();
		const message = `The Base URL in the credential ${reason}`;
		expect(await test({ baseUrl })).toEqual({ status: 'Error', message });
		outgoing.stop();
		expect(outgoing.sent).toEqual([]);
	});

	it('is red if the address redirects, and does not send the key there', async () => {
		const location = `${stage.sandbox.storageUrl}/elsewhere`;
		stage.sandbox.faults.order({ on: 'credits', action: { kind: 'redirect', location } });
		expect((await test({})).status).toBe('Error');
		expect(stage.sandbox.requests.keysAtStorage).toEqual([]);
	});

	it.each<[string, string | object]>([
		['a website', '<!doctype html><html><body>Welcome</body></html>'],
		['an n8n that knows nothing of it', { status: 'ok' }],
		['a service that lists things', { object: 'list', balance: 3 }],
		['a service of another kind', { object: 'credit_grant_account' }],
		['a balance that does not say what it is', { balance: 100 }],
		['one that has nothing to say', ''],
	])('is red if %s answers at the address with 200', async (_, body) => {
		stage.sandbox.faults.order({ on: 'credits', action: { kind: 'respond', status: 200, body } });
		expect(await test({})).toEqual({
			status: 'Error',
			message: expect.stringContaining('This is not the media service') as string,
		});
	});

	it.each([
		['file:///x', 'must start with https:// or http://'],
		['http://user:pass@127.0.0.1', 'must not contain a user name or password'],
	])('with the Base URL %j is refused before anything is sent', async (baseUrl, reason) => {
		const outgoing = new Outgoing();
		const items = prompts('a boat', 'a ship');
		const run = await stage.run('imageGeneration', {}, { credential: { baseUrl }, items });
		outgoing.stop();
		expect(run.error).toMatchObject({
			message: `The Base URL in the credential ${reason}`,
			description: expect.stringMatching(/nothing was charged/i),
			context: { code: 'invalid_base_url' },
		});
		expect(outgoing.sent).toEqual([]);
	});

	const fetchWith = async (url: string) =>
		await stage.runWorkflow(inARow({ name: 'Step', type: 'test.foreign', parameters: { url } }));

	it('serves third-party nodes too', async () => {
		const run = await fetchWith(`${stage.sandbox.url}/v1/credits/balance`);
		expect(run.output('Step')).toMatchObject([{ json: { object: 'credit_balance' } }]);
	});

	it('refuses their requests to another origin, such as that of a presigned URL', async () => {
		const id = await stage.made('a boat');
		await stage.pass(5);
		const run = await fetchWith(stage.sandbox.service.outputUrl(id) ?? '');
		expect(run.error?.message).toContain('sent to the Base URL only');
		expect(stage.sandbox.requests.keysAtStorage).toEqual([]);
	});
});

describe.each([
	['imageGeneration', 'searchImageModels', 'image'],
	['videoGeneration', 'searchVideoModels', 'video'],
	['generationModels', 'searchModels', 'all'],
] as const)('the model list of %s', (node, method, type) => {
	const search = async (filter?: string, key?: KeyName) => {
		const nodeType = `n8n-nodes-media-generation.${node}`;
		const credentials = stage.credentials({ key });
		const found = await stage.engine.listSearch({ nodeType, method, credentials, filter });
		return found.results;
	};

	it('offers the models of its type, by names with their facts, which are all that n8n shows', async () => {
		const results = await search();
		expect(results.map(({ value }) => value)).toEqual(listModels(type).map(({ id }) => id));
		for (const [index, model] of listModels(type).entries()) {
			const { name, description } = results[index];
			expect(name.startsWith(`${model.name} · takes about ${model.avg_speed_seconds} s · `)).toBe(
				true,
			);
			expect(name).toContain(model.max_resolution);
			expect(description).toContain(model.provider);
			expect(description).toContain(model.max_resolution);
			expect(description).toMatch(new RegExp(`\\b${model.avg_speed_seconds} s\\b`));
			expect(description).toContain(model.description);
		}
	});

	it('finds by any words of name, id, provider or description, in any case', async () => {
		const values = async (filter: string) => (await search(filter)).map(({ value }) => value);
		const kestrels = listModels(type).filter(({ id }) => id.startsWith('kestrel'));
		expect(await values('KESTREL ai')).toEqual(kestrels.map(({ id }) => id));
		const minis = listModels(type).filter(({ id }) => id.endsWith('-mini'));
		expect(await values('mini northlight')).toEqual(minis.map(({ id }) => id));
		expect(await values('none such')).toEqual([]);
		expect(await values('  ')).toHaveLength(listModels(type).length);
	});

	it('says what is wrong with the key', async () => {
		const message = 'The API key has expired or was revoked';
		await expect(search('', 'expired')).rejects.toMatchObject({ name: 'NodeApiError', message });
	});
});
