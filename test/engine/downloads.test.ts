import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readGeneration, type Generation } from '../../client/api/generation';
import { download } from '../../nodes/shared/http/download';
import { stepIn } from '../../nodes/shared/step';
import type { BookEntry } from '../../sandbox/books/books';
import type { FaultAction } from '../../sandbox/faults';
import type { Control } from '../../tools/engine';
import { bareNode } from '../../tools/engine/bare-node';
import { inARow } from '../../tools/engine/in-a-row';
import { http } from '../../tools/http';
import { binaryOf, openStage, prompts, sha256 } from './stage';

/** Downloads as our nodes do, but gives up on a stalled download after 0.2 seconds. */
const impatient = bareNode('impatient', {
	async execute() {
		const id = String(this.getInputData()[0].json.id);
		const look = async () => {
			const headers = { authorization: `Bearer ${stage.sandbox.keys.main}` };
			const { data } = await http.get(`${stage.sandbox.url}/v1/generations/${id}`, { headers });
			return readGeneration(data, Date.now()) as Generation;
		};
		const { signal } = new AbortController();
		const wanted = { fileName: 'a', refresh: look, signal, idleTimeoutMs: 2500 };
		const { binary } = await download(stepIn(this), { ...wanted, generation: await look() });
		return [[{ json: {}, binary: { data: binary } }]];
	},
});

const storageDir = mkdtempSync(join(tmpdir(), 'downloads-'));
const stage = openStage({ storageDir, extraNodes: { 'test.impatient': impatient } });

afterAll(() => rmSync(storageDir, { recursive: true }));

const order = (action: FaultAction, times: number | 'always' = 1) =>
	stage.sandbox.faults.order({ on: 'download', times, action });
const fetched = () => stage.sandbox.requests.on('download').map(({ status }) => status);

const MEGABYTE = 1024 * 1024;
const page = '<!doctype html><title>Sign in</title>';

/** Returns the sizes of all files below the folder. */
function sizesIn(folder: string): number[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
}

/**
 * Triggers the fault, and checks that the file is still returned and charged once.
 *
 * @returns the status codes of its downloads
 */
async function expectTheFile(action: FaultAction, times = 1): Promise<Array<number | null>> {
	order(action, times);
	const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
	expect(run.error).toBeUndefined();
	const statuses = fetched();
	const [item] = run.output('Step');
	const served = await stage.served(String(item.json.id));
	expect(sha256(await run.binary(binaryOf(item)))).toBe(sha256(served));
	expect(binaryOf(item)).toMatchObject({
		fileName: `a-boat-${String(item.json.id).slice(0, 8)}.png`,
		fileExtension: 'png',
		mimeType: 'image/png',
		bytes: served.length,
	});
	expect(stage.sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
	return statuses;
}

describe('a download', () => {
	it.each([
		['image', 'imageGeneration'],
		['video', 'videoGeneration'],
	] as const)('of a large %s goes to the storage as it arrives', async (_type, node) => {
		order({ kind: 'stall', afterBytes: 2 * MEGABYTE });
		const large = () => sizesIn(storageDir).filter((size) => size > MEGABYTE).length;
		const before = large();
		const untilStored = async ({ cancel }: Control) => {
			while (large() === before) {
				await new Promise((resolve) => setTimeout(resolve, 5));
			}
			cancel();
		};
		const items = prompts('[size: 3MB] a boat');
		const onReady = (control: Control) => void untilStored(control);
		expect((await stage.run(node, {}, { items, onReady })).status).toBe('canceled');
		const run = await stage.run(node, {}, { items });
		const [item] = run.output('Step');
		expect(binaryOf(item).bytes).toBeGreaterThanOrEqual(3 * MEGABYTE);
		expect(sha256(await run.binary(binaryOf(item)))).toBe(
			sha256(await stage.served(String(item.json.id))),
		);
	});

	it.each<[string, FaultAction]>([
		['is refused, its URL being expired', { kind: 'expire' }],
		['breaks off', { kind: 'truncate', afterBytes: 500 }],
		['breaks off within the first bytes', { kind: 'truncate', afterBytes: 10 }],
		['breaks off before the first byte', { kind: 'truncate', afterBytes: 0 }],
		[
			'breaks off without having said how long it is',
			{ kind: 'truncate', afterBytes: 500, chunked: true },
		],
		['breaks off at once without a length', { kind: 'truncate', afterBytes: 0, chunked: true }],
		['is shorter than it said', { kind: 'wrongLength', by: 10 }],
		['is refused a connection', { kind: 'reset' }],
		['comes to a page instead of the file', { kind: 'respond', status: 200, body: page }],
		['comes to JSON', { kind: 'respond', status: 200, body: { message: 'no' } }],
		['is answered with nothing', { kind: 'respond', status: 204 }],
		['comes to an empty file', { kind: 'respond', status: 200, contentType: 'image/png' }],
		['finds the storage down', { kind: 'respond', status: 503, body: '<Error/>' }],
		['comes before the file is there', { kind: 'respond', status: 404, body: '<Error/>' }],
		['starts with a part of the file', { kind: 'partialContent', bytes: 100 }],
	])('that %s is restarted', async (_case, action) => {
		expect(await expectTheFile(action)).toHaveLength(2);
	});

	it('is complete with a 206 that covers the whole file', async () => {
		expect(await expectTheFile({ kind: 'partialContent' })).toEqual([206]);
	});

	it.each([404, 202, 204])(
		'that comes long before the file is there waits for it: the storage returns %d',
		async (status) => {
			const statuses = await expectTheFile({ kind: 'respond', status }, 7);
			expect(statuses).toEqual([...Array.from({ length: 7 }, () => status), 200]);
		},
	);

	it('that breaks several times is still restarted', async () => {
		expect(await expectTheFile({ kind: 'truncate', afterBytes: 700 }, 3)).toHaveLength(4);
	});

	it('requests a fresh URL before it is restarted', async () => {
		await expectTheFile({ kind: 'expire' });
		expect(stage.sandbox.requests.all.slice(-4, -1).map(({ on, status }) => [on, status])).toEqual([
			['download', 403],
			['status', 200],
			['download', 200],
		]);
	});

	describe.each(['generation_not_found', 'service_unavailable', 'authentication_error'] as const)(
		'while the service says %s',
		(code) => {
			const afterwards = async (action: FaultAction) => {
				const id = await stage.made('[seconds: 0] a boat');
				order(action);
				const trouble = { kind: 'error', code } as const;
				stage.sandbox.faults.order({ on: 'status', skip: 1, times: 'always', action: trouble });
				return await stage.run('waitForCompletion', {}, { items: [{ id }] });
			};

			it('that breaks off is restarted with the known URL', async () => {
				const run = await afterwards({ kind: 'truncate', afterBytes: 500 });
				const [item] = run.output('Step');
				const served = await stage.served(String(item.json.id));
				expect(sha256(await run.binary(binaryOf(item)))).toBe(sha256(served));
			});

			it('whose URL has expired is an error with the message of the service', async () => {
				const run = await afterwards({ kind: 'expire' });
				expect(run.error).toMatchObject({ context: { code } });
			});
		},
	);

	it.each<[string, FaultAction]>([
		['without a length', { kind: 'noContentLength' }],
		['as application/octet-stream', { kind: 'contentType', value: 'application/octet-stream' }],
		['as text/plain', { kind: 'contentType', value: 'text/plain; charset=utf-8' }],
		['as a page', { kind: 'contentType', value: 'text/html' }],
		['as a picture of another kind', { kind: 'contentType', value: 'image/jpeg' }],
		['as a video', { kind: 'contentType', value: 'video/mp4' }],
		['without a type', { kind: 'contentType', value: '' }],
		['late', { kind: 'delay', ms: 100 }],
		['packed with gzip, which nobody asked for', { kind: 'gzip' }],
		['in drops', { kind: 'trickle', bytes: 5, everyMs: 0 }],
	])(
		'that comes %s returns the same file, with the type detected from its content',
		async (_case, action) => {
			expect(await expectTheFile(action)).toEqual([200]);
		},
	);

	it.each([500, 10, 0])('that stalls after %d bytes is restarted', async (afterBytes) => {
		const id = await stage.made('[seconds: 0] a boat');
		order({ kind: 'stall', afterBytes });
		const workflow = inARow({ name: 'Step', type: 'test.impatient' });
		const run = await stage.runWorkflow(workflow, { items: [{ id }] });
		expect(run.error).toBeUndefined();
		expect(fetched()).toEqual([200, 200]);
		const bytes = await run.binary(binaryOf(run.output('Step')[0]));
		expect(sha256(bytes)).toBe(sha256(await stage.served(id)));
	});

	it('follows a redirect, without the key', async () => {
		const id = await stage.made('[seconds: 0] a boat');
		const location = stage.sandbox.service.outputUrl(id) ?? '';
		order({ kind: 'redirect', location });
		const run = await stage.run('waitForCompletion', {}, { items: [{ id }] });
		expect(fetched()).toEqual([302, 200]);
		const bytes = await run.binary(binaryOf(run.output('Step')[0]));
		expect(sha256(bytes)).toBe(sha256(await stage.served(id)));
	});

	it.each(['imageGeneration', 'videoGeneration'] as const)(
		'of %s that is unavailable is an error with ID and URL, and costs nothing later',
		async (node) => {
			order({ kind: 'truncate', afterBytes: 100 }, 'always');
			const run = await stage.run(
				node,
				{ runOptions: { timeout: 20 } },
				{ items: prompts('a boat') },
			);
			const [{ id, charged }] = stage.sandbox.books.generations;
			expect(run.error).toMatchObject({
				name: 'NodeApiError',
				message: expect.stringMatching(/download|broke off/),
				context: {
					itemIndex: 0,
					code: 'download_failed',
					generations: [{ id, status: 'completed' }],
				},
			});
			const { description = '' } = run.error as { description?: string };
			expect(description).toContain(id);
			expect(description.replaceAll('&amp;', '&')).toContain(stage.sandbox.service.outputUrl(id));
			expect(description).toContain('Wait for Completion');
			stage.sandbox.faults.clear();
			const waited = await stage.run('waitForCompletion', {}, { items: [{ id }] });
			const bytes = await waited.binary(binaryOf(waited.output('Step')[0]));
			expect(sha256(bytes)).toBe(sha256(await stage.served(id)));
			expect(stage.sandbox.books.totals.charged).toBe(charged);
		},
	);

	it('that is unavailable is downloaded by the next attempt of the step, at no charge', async () => {
		order({ kind: 'respond', status: 403, body: '<Error/>' }, 5);
		const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat'), settings });
		expect(run.status).toBe('success');
		expect(binaryOf(run.output('Step')[0]).mimeType).toBe('image/png');
		expect(stage.sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
	});

	it('that is unavailable becomes one item with ID and status if the workflow continues', async () => {
		stage.sandbox.faults.order({
			on: 'download',
			match: { promptIncludes: 'ship' },
			times: 'always',
			action: { kind: 'reset' },
		});
		const settings = { onError: 'continueRegularOutput' as const };
		const items = prompts('a boat', 'a ship', 'a raft');
		const soon = { runOptions: { timeout: 20 } };
		const run = await stage.run('imageGeneration', soon, { items, settings });
		const made = stage.sandbox.books.generations;
		const failed = made.find(({ prompt }) => prompt === 'a ship');
		expect(run.output('Step').map(({ binary }) => Boolean(binary))).toEqual([true, false, true]);
		expect(run.output('Step')[1]).toStrictEqual({
			json: {
				...stage.promised({ ...(failed as BookEntry), state: 'completed' }),
				error: expect.stringContaining(String(failed?.id)),
				error_code: 'download_failed',
			},
			pairedItem: { item: 1 },
		});
	});

	it('that needs a fresh URL takes only the URL from an outdated response', async () => {
		stage.sandbox.faults.order({ on: 'download', times: 1, action: { kind: 'expire' } });
		const id = await stage.made('a boat [seconds: 1]');
		const url = stage.sandbox.service.outputUrl(id);
		const body = { id, status: 'processing', type: 'image', data: [{ url, generation_id: id }] };
		const action = { kind: 'respond', status: 200, contentType: 'application/json', body } as const;
		stage.sandbox.faults.order({ on: 'status', skip: 1, times: 1, action });
		await stage.pass(10);
		const run = await stage.run('waitForCompletion', {}, { items: [{ id }] });
		const [{ json, binary }] = run.output('Step');
		expect(binary?.data).toBeDefined();
		expect(json).toMatchObject({ status: 'completed', url, model: 'lumen-turbo' });
	});
});
