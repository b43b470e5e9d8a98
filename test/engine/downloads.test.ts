import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { BookEntry } from '../../sandbox/books/books';
import type { FaultAction } from '../../sandbox/faults';
import type { Control } from '../../tools/engine';
import { binaryOf, openStage, prompts, sha256 } from './stage';

const storageDir = mkdtempSync(join(tmpdir(), 'downloads-'));
const stage = openStage({ storageDir });

afterAll(() => rmSync(storageDir, { recursive: true }));

const order = (action: FaultAction, times: number | 'always' = 1) =>
	stage.sandbox.faults.order({ on: 'download', times, action });
const fetched = () => stage.sandbox.requests.on('download').map(({ status }) => status);

const MEGABYTE = 1024 * 1024;

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
async function expectTheFile(action: FaultAction): Promise<Array<number | null>> {
	order(action);
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
		['is shorter than it said', { kind: 'wrongLength', by: 10 }],
		['finds the storage down', { kind: 'respond', status: 503, body: '<Error/>' }],
	])('that %s is restarted', async (_case, action) => {
		expect(await expectTheFile(action)).toHaveLength(2);
	});

	it('requests a fresh URL before it is restarted', async () => {
		await expectTheFile({ kind: 'expire' });
		expect(stage.sandbox.requests.all.slice(-4, -1).map(({ on, status }) => [on, status])).toEqual([
			['download', 403],
			['status', 200],
			['download', 200],
		]);
	});

	it('is one of three at a time, because n8n may hold each file in memory', async () => {
		order({ kind: 'stall', afterBytes: 100 }, 'always');
		const untilAllAreMade = async ({ cancel }: Control) => {
			while (stage.sandbox.books.totals.created < 6) await stage.pass(0);
			await stage.pass(20);
			cancel();
		};
		const items = prompts(...'abcdef');
		const onReady = (control: Control) => void untilAllAreMade(control);
		const run = await stage.run('imageGeneration', {}, { items, onReady });
		expect([run.status, fetched().length]).toEqual(['canceled', 3]);
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
});
