import { ExecuteContext } from 'n8n-core';
import type { INodeParameters } from 'n8n-workflow';

import { startSandbox, type Sandbox } from '../../sandbox/server';
import { GivenCredentials } from '../../tools/engine/credentials';
import { inARow } from '../../tools/engine/in-a-row';
import { everythingIn } from '../support/everything';
import { Outgoing } from '../support/outgoing';
import { ownNode } from '../support/workflow';
import type { NodeName } from '../support/workflow';
import { openKeyedStage } from './keyed';
import { byId, prompts } from './stage';

const { stage } = openKeyedStage();

const { getDecrypted } = GivenCredentials.prototype;
const read = jest.spyOn(GivenCredentials.prototype, 'getDecrypted');

afterEach(() => read.mockImplementation(getDecrypted));
afterAll(() => read.mockRestore());

type Read = typeof getDecrypted;

const locked = async () => await Promise.reject(new Error('Database is locked'));

/** Calls `fault` before each read: n8n reads the credential for each request. */
function whileReading(fault: (reads: number) => Promise<void>): void {
	let reads = 0;
	read.mockImplementation(async function (this: GivenCredentials, ...wanted: Parameters<Read>) {
		await fault(++reads);
		return await getDecrypted.apply(this, wanted);
	});
}

describe('a node without a credential, as after pasting or importing it', () => {
	it.each<[NodeName, INodeParameters]>([
		['imageGeneration', { model: byId('lumen-turbo'), prompt: 'A boat' }],
		['waitForCompletion', { generationId: 'an-id' }],
		['generationModels', {}],
	])('says immediately what is missing, and does not retry: %s', async (type, parameters) => {
		const outgoing = new Outgoing();
		const asked = jest.spyOn(ExecuteContext.prototype, 'getCredentials');
		const settings = { onError: 'continueRegularOutput' as const };
		const step = ownNode('Step', type, parameters, settings);
		const run = await stage.engine.run(inARow(step), { credentials: {} });
		expect(run.output('Step')).toMatchObject([
			{
				json: {
					error: expect.stringMatching(/^The node has no credential\..*Choose a/),
					error_code: 'credential_missing',
				},
			},
		]);
		outgoing.stop();
		expect([asked.mock.calls.length, outgoing.sent]).toEqual([1, []]);
		asked.mockRestore();
	});
});

describe('a credential store', () => {
	it('that is slow when the user stops: nothing more is sent or charged', async () => {
		stage.setPace(1);
		const stop = new AbortController();
		const outgoing = new Outgoing();
		const stopped = new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
		let waiting = 0;
		whileReading(async () => {
			if (++waiting === 10) setTimeout(() => stop.abort(), 0);
			await stopped;
			await stage.pass(0.05);
		});
		const boats = prompts(...Array.from({ length: 10 }, (_, index) => `a boat ${index}`));
		const run = await stage.run('imageGeneration', {}, { items: boats, signal: stop.signal });
		await stage.pass(1);
		outgoing.stop();
		expect([waiting, run.status, outgoing.sent]).toEqual([10, 'canceled', []]);
		expect(stage.sandbox.books.totals).toMatchObject({ created: 0, charged: 0 });
		expect(run.logs.filter(({ level }) => level === 'warn')).toEqual([]);
	});

	it.each([
		'Node does not have any credentials set',
		'Node does not have any credentials set for "mediaGenerationApi"',
		'Found credential with no ID.',
		'Credential with ID "7" does not exist for type "mediaGenerationApi".',
		'Credentials could not be decrypted. The likely reason is that a different "encryptionKey" was used',
	])('that does not have the credential is not asked again: %s', async (said) => {
		let asked = 0;
		whileReading(async (reads) => {
			asked = reads;
			throw new Error(said);
		});
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
		expect(run.error).toMatchObject({
			message: 'The node has no credential',
			description: expect.stringContaining(`n8n says: ${said}`) as string,
			context: { code: 'credential_missing' },
		});
		expect([asked, stage.arrived]).toEqual([1, 0]);
	});

	it('that cannot be read leaves no unknown charge', async () => {
		whileReading(locked);
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
		expect(run.error).toMatchObject({
			message: expect.stringContaining('The credential could not be read'),
			description: expect.stringContaining('Nothing was charged'),
			context: { code: 'credential_unreadable' },
		});
		expect(stage.arrived).toBe(0);
		read.mockImplementation(getDecrypted);
		const again = await stage.engine.retry(run);
		expect(again.error).toBeUndefined();
		expect(stage.sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
	});

	it('that becomes unavailable: charged items are named, and the others follow On Error', async () => {
		stage.setPace(4);
		const given = prompts('a raft [seconds: 60]', 'a boat');
		const parameters = { runOptions: { timeout: 5 } };
		const run = await stage.run('imageGeneration', parameters, { items: given });
		const paid = stage.sandbox.books.generations.map(({ id }) => id);
		expect(paid).toHaveLength(2);
		whileReading(locked);
		stage.setPace();
		const again = await stage.engine.retry(run);
		expect(again.error?.description).toContain('The credential could not be read');
		for (const id of paid) expect(again.error?.description).toContain(id);

		const settings = { onError: 'continueRegularOutput' as const };
		const goesOn = await stage.run('imageGeneration', {}, { items: given, settings });
		expect(goesOn.output('Step').map(({ json }) => json.error_code)).toEqual(
			given.map(() => 'credential_unreadable'),
		);
	});
});

describe('a credential that is edited while a step runs', () => {
	let other: Sandbox;
	beforeAll(async () => (other = await startSandbox()));
	afterAll(async () => await other.close());
	beforeEach(() => other.reset());

	/** Changes the credential data after this number of reads. */
	function edit(after: number, data: object): void {
		let reads = 0;
		read.mockImplementation(async function (this: GivenCredentials, ...wanted: Parameters<Read>) {
			const given = await getDecrypted.apply(this, wanted);
			return ++reads > after ? { ...given, ...data } : given;
		});
	}

	it('sends the new key only to its own address, and names what is charged', async () => {
		edit(2, { baseUrl: other.url, apiKey: other.keys.empty });
		const items = prompts('a boat [seconds: 20]', 'a ship [seconds: 20]');
		const run = await stage.run('imageGeneration', {}, { items });
		const { books, requests, keys } = stage.sandbox;
		expect(run.error).toMatchObject({ context: { code: 'generation_not_found' } });
		expect(books.totals).toMatchObject({ created: 2 });
		for (const { id } of books.generations) expect(run.error?.description).toContain(id);
		const { keyFingerprint } = requests.on('create')[0];
		const atService = requests.all.filter(({ origin }) => origin === 'service');
		expect(atService.filter((one) => one.keyFingerprint !== keyFingerprint)).toEqual([]);
		const elsewhere = other.requests.all.map((one) => one.keyFingerprint);
		expect(elsewhere.length).toBeGreaterThan(0);
		expect(elsewhere).not.toContain(keyFingerprint);
		expect(everythingIn(run.error)).not.toContain(keys.main.slice(9, 20));
	});
});
