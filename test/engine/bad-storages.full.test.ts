import type { FaultAction } from '../../sandbox/faults';
import type { Run } from '../../tools/engine';
import { binaryOf, openStage, prompts, sha256 } from './stage';

const stage = openStage();

const MEGABYTE = 1024 * 1024;

afterEach(() => {
	stage.sandbox.service.storageOrigin = stage.sandbox.storageUrl;
});

const downloads = () => stage.sandbox.requests.on('download');
const probes = () => stage.sandbox.requests.on('probe');
const byUrl = { runOptions: { readiness: 'outputUrl' } };

async function expectTheFile(run: Run): Promise<void> {
	expect(run.error).toBeUndefined();
	const [item] = run.output('Step');
	const bytes = await run.binary(binaryOf(item));
	expect(sha256(bytes)).toBe(sha256(await stage.served(String(item.json.id))));
}

async function closed(records: () => Array<{ answered: boolean }>): Promise<void> {
	while (records().some(({ answered }) => answered)) {
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

describe('a storage with an endless response', () => {
	it.each<[string, FaultAction]>([
		['an error', { kind: 'respond', status: 500, body: 'x'.repeat(65_536), endless: true }],
		['a page', { kind: 'respond', status: 200, body: '<html>'.padEnd(65_536), endless: true }],
	])('is disconnected: %s', async (_case, action) => {
		stage.sandbox.faults.order({ on: 'download', times: 'always', action });
		const soon = { runOptions: { timeout: 20 } };
		const run = await stage.run('imageGeneration', soon, { items: prompts('a boat') });
		expect(run.error).toMatchObject({ context: { code: 'download_failed' } });
		await closed(downloads);
		expect(downloads()).toHaveLength(5);
		expect(Math.max(...downloads().map(({ bytes }) => bytes))).toBeLessThan(20 * MEGABYTE);
	});
});

describe('a storage that sends the whole file when asked for its first byte', () => {
	it('is read only up to the first byte', async () => {
		stage.sandbox.faults.order({ on: 'probe', times: 'always', action: { kind: 'ignoreRange' } });
		const parameters = { ...byUrl, downloadOutput: false };
		const wholeFile = () => probes().some(({ status }) => status === 200);
		// On a busy machine, the status check may notice the end before any probe does.
		while (!wholeFile()) {
			const id = await stage.made('a boat [seconds: 60] [size: 50MB]');
			const run = await stage.run('waitForCompletion', parameters, { items: [{ id }] });
			expect(run.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
		}
		expect(Math.max(...probes().map(({ bytes }) => bytes))).toBeLessThan(20 * MEGABYTE);
	});
});

describe('a storage that returns text with status 200', () => {
	it.each<[string, string, string]>([
		['a message', 'text/plain', 'Service temporarily overloaded'],
		[
			'a page behind a BOM',
			'image/png',
			'\ufeff<html><title>Service temporarily overloaded</title>',
		],
		['XML behind a comment', 'image/png', '<!-- --><Error>Service temporarily overloaded</Error>'],
	])('is an error, because the text is not an image: %s', async (_case, contentType, body) => {
		const action: FaultAction = { kind: 'respond', status: 200, contentType, body };
		stage.sandbox.faults.order({ on: 'download', times: 'always', action });
		const soon = { runOptions: { timeout: 20 } };
		const run = await stage.run('imageGeneration', soon, { items: prompts('a boat') });
		expect(run.error).toMatchObject({
			message:
				'The storage returned text instead of the image or video: Service temporarily overloaded',
			context: { code: 'download_failed' },
		});
	});

	it('delivers its image once it sends one', async () => {
		const action: FaultAction = { kind: 'respond', status: 200, body: 'Busy' };
		stage.sandbox.faults.order({ on: 'download', times: 2, action });
		await expectTheFile(await stage.run('imageGeneration', {}, { items: prompts('a boat') }));
	});
});

describe('three slow downloads', () => {
	it('do not block other downloads', async () => {
		// Timeouts of a minute take two seconds here.
		const restore = stage.shortenTimeouts(30);
		stage.sandbox.faults.order({
			on: 'download',
			match: { promptIncludes: 'slow' },
			times: 3,
			action: { kind: 'trickle', everyMs: 100 },
		});
		const later = ['a boat [seconds: 20]', 'a ship [seconds: 20]'];
		const items = prompts('slow 1', 'slow 2', 'slow 3', ...later);
		const run = await stage.run('imageGeneration', {}, { items });
		restore();
		expect(run.output('Step').map(({ binary }) => binary?.data.mimeType)).toEqual(
			items.map(() => 'image/png'),
		);
		const order = downloads().map(({ generationId }) => promptOf(generationId));
		expect(order.slice(0, 3).sort()).toEqual(['slow 1', 'slow 2', 'slow 3']);
		expect(order.slice(3).sort()).toEqual([...later, 'slow 1', 'slow 2', 'slow 3']);
		expect(stage.sandbox.books.totals).toMatchObject({ created: 5, charged: 5 });
	});
});

function promptOf(generationId: string | null): string | undefined {
	return stage.sandbox.books.generations.find(({ id }) => id === generationId)?.prompt;
}

describe('an unreachable storage', () => {
	it.each([
		[
			'its name does not resolve',
			'http://storage.invalid',
			/its host name (does not exist|could not be resolved)/,
		],
		['its port is closed', 'http://127.0.0.1:9', /storage cannot be reached/],
	])('is reported as unreachable: %s', async (_case, origin, words) => {
		stage.sandbox.service.storageOrigin = origin;
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
		expect(run.error?.message).toMatch(words);
		stage.sandbox.service.storageOrigin = stage.sandbox.storageUrl;
	});

	it('that is probed by the output URL delays nothing but the file', async () => {
		const id = await stage.made('a boat [seconds: 9]');
		const action = { kind: 'unreachable' } as const;
		stage.sandbox.faults.order({ on: 'status', times: 1, action });
		const run = await stage.run('waitForCompletion', byUrl, { items: [{ id }] });
		await expectTheFile(run);
		expect(probes()).toEqual([]);
	});
});
