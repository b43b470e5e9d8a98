import type { BookEntry } from '../../sandbox/books/books';
import type { Control } from '../../tools/engine';
import { openStage, prompts } from './stage';

const stage = openStage();

const plain = { downloadOutput: false };
const numbered = (count: number, text = 'a boat') =>
	Array.from({ length: count }, (_, index) => `${text} ${index}`);

/** Returns the highest number of generations that ran at the same time. */
function mostAtOnce(entries: BookEntry[]): number {
	const runningAt = (time: number) =>
		entries.filter(({ created, finishes }) => created <= time && time < finishes).length;
	return Math.max(...entries.map(({ created }) => runningAt(created)));
}

function expectEachMadeOnce(texts: string[]): void {
	const charges = texts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
	expect(charges).toEqual(texts.map(() => 1));
	expect(stage.sandbox.books.totals.created).toBe(texts.length);
}

describe('the limit of concurrent generations', () => {
	it.each([1, 3])(
		"is the node's own: %d at the same time, and all slots are used",
		async (maxConcurrent) => {
			stage.setPace(20);
			const texts = numbered(2 * maxConcurrent + 1, '[seconds: 9] a boat');
			const parameters = { ...plain, runOptions: { maxConcurrent } };
			const run = await stage.run('imageGeneration', parameters, { items: prompts(...texts) });
			expect(run.status).toBe('success');
			expectEachMadeOnce(texts);
			expect(mostAtOnce(stage.sandbox.books.generations)).toBe(maxConcurrent);
			expect(stage.sandbox.requests.on('create').map(({ status }) => status)).toEqual(
				texts.map(() => 200),
			);
		},
	);

	it('is that of the first item if an expression gives each item another one', async () => {
		stage.setPace(20);
		const items = [1, 3, 3].map((most) => ({ prompt: '[seconds: 9] a boat', most }));
		const parameters = { ...plain, runOptions: { maxConcurrent: '={{ $json.most }}' } };
		await stage.run('imageGeneration', parameters, { items });
		expect(mostAtOnce(stage.sandbox.books.generations)).toBe(1);
		expect(stage.sandbox.books.totals.created).toBe(3);
	});

	it('is ten by default', async () => {
		stage.setPace(20);
		const texts = numbered(12, '[seconds: 20] a boat');
		await stage.run('imageGeneration', plain, { items: prompts(...texts), key: 'enterprise' });
		expect(mostAtOnce(stage.sandbox.books.generations)).toBe(10);
	});

	it('has one queue for all executions of a process: first come, first served', async () => {
		stage.setPace(20);
		stage.sandbox.service.accounts.account('main').concurrency = 1;
		const settings = { credentials: { mediaGenerationApi: { id: 'one', name: 'One account' } } };
		const texts = numbered(6, '[seconds: 9] a boat');
		const runs = [];
		for (const text of texts) {
			runs.push(stage.run('imageGeneration', plain, { items: prompts(text), settings }));
			await stage.pass(2);
		}
		const ended = await Promise.all(runs);
		expect(ended.map(({ status }) => status)).toEqual(texts.map(() => 'success'));
		expect(stage.sandbox.books.generations.map(({ prompt }) => prompt)).toEqual(texts);
		expectEachMadeOnce(texts);
	});

	it('is that of the account if it is lower: items wait, and none fails or is charged twice', async () => {
		stage.setPace(20);
		stage.sandbox.service.accounts.account('main').concurrency = 2;
		const texts = numbered(4, '[seconds: 9] a boat');
		const run = await stage.run('imageGeneration', plain, { items: prompts(...texts) });
		expect(run.status).toBe('success');
		expectEachMadeOnce(texts);
		expect(mostAtOnce(stage.sandbox.books.generations)).toBe(2);
	});

	it('leaves room for generations of other clients, whose number varies', async () => {
		const { service } = stage.sandbox;
		service.occupy('main', 10);
		const waiting = setInterval(() => {
			if (stage.sandbox.requests.on('create').length < 8) return;
			service.occupy('main', 7);
			clearInterval(waiting);
		}, 1);
		const texts = numbered(6);
		const run = await stage.run('imageGeneration', plain, { items: prompts(...texts) });
		expect(run.status).toBe('success');
		expectEachMadeOnce(texts);
		expect(mostAtOnce(stage.sandbox.books.generations)).toBeLessThanOrEqual(3);
		expect(run.hints('Step')).toMatchObject([
			{
				message: expect.stringMatching(
					/^6 of 6 ready\..* The step waited \d+ s for free slots\. The service says: \d+ generations are running and your plan allows 10 at a time\./,
				),
			},
		]);
	});

	it.each([
		['cannot be had', { kind: 'error', code: 'server_error' }],
		['cannot be read', { kind: 'respond', status: 200, body: { data: [null] } }],
	] as const)('is fully used even if the catalog %s', async (_, action) => {
		stage.sandbox.faults.order({ on: 'models', times: 'always', action });
		stage.setPace(20);
		const texts = numbered(4, '[seconds: 9] a boat');
		const parameters = { ...plain, runOptions: { maxConcurrent: 2 } };
		const run = await stage.run('imageGeneration', parameters, { items: prompts(...texts) });
		expect(run.status).toBe('success');
		expectEachMadeOnce(texts);
		expect(mostAtOnce(stage.sandbox.books.generations)).toBe(2);
	});

	it('fails an item only if there was no slot until its timeout', async () => {
		stage.sandbox.service.occupy('main', 10);
		const parameters = { ...plain, runOptions: { timeout: 20 } };
		const settings = { onError: 'continueRegularOutput' as const };
		const order = { items: prompts(...numbered(3)), settings };
		const run = await stage.run('imageGeneration', parameters, order);
		expect(run.output('Step').map(({ json }) => json.error_code)).toEqual([
			'CONCURRENCY_LIMIT_REACHED',
			'CONCURRENCY_LIMIT_REACHED',
			'CONCURRENCY_LIMIT_REACHED',
		]);
		expect(run.output('Step')[0].json.error).toMatch(/Nothing was charged.*within 20 s/);
		expect(stage.sandbox.books.totals.created).toBe(0);
	});
});

describe('downloads', () => {
	it('hold no slot: the next item is submitted during a download', async () => {
		const texts = numbered(4);
		const action = { kind: 'stall', afterBytes: 100 } as const;
		stage.sandbox.faults.order({ on: 'download', action });
		const untilAllAreMade = async ({ cancel }: Control) => {
			while (stage.sandbox.books.totals.created < texts.length) {
				await stage.pass(0);
			}
			cancel();
		};
		const parameters = { runOptions: { maxConcurrent: 1 } };
		const run = await stage.run('imageGeneration', parameters, {
			items: prompts(...texts),
			onReady: (control) => void untilAllAreMade(control),
		});
		expect(run.status).toBe('canceled');
		expect(stage.sandbox.requests.on('create')).toHaveLength(texts.length);
	});

	it('are limited to three at a time, because n8n may hold each file in memory', async () => {
		const texts = [...numbered(8, '[seconds: 1] a boat'), '[seconds: 30] a ship'];
		const action = { kind: 'stall', afterBytes: 100 } as const;
		stage.sandbox.faults.order({ on: 'download', times: 'always', action });
		const { books, requests } = stage.sandbox;
		/** Returns whether a status check has seen the end of the ship, long after the others. */
		const isOver = () => {
			const ship = books.generations.find(({ prompt }) => prompt.endsWith('ship'));
			return requests.on('status').some(({ generationId, at, answered }) => {
				return ship && generationId === ship.id && at >= ship.finishes && answered;
			});
		};
		const untilAllHaveEnded = async ({ cancel }: Control) => {
			while (!isOver()) await stage.pass(0);
			cancel();
		};
		const run = await stage.run(
			'imageGeneration',
			{},
			{ items: prompts(...texts), onReady: (control) => void untilAllHaveEnded(control) },
		);
		expect([run.status, requests.on('download').length]).toEqual(['canceled', 3]);
	});
});

describe('the hint of a step', () => {
	it('is absent if all went well', async () => {
		const run = await stage.run('imageGeneration', plain, { items: prompts('a boat', 'a ship') });
		expect(run.hints('Step')).toEqual([]);
	});

	it('says what was generated, retried, and failed', async () => {
		const texts = ['a boat', 'a ship [fail]', 'a raft [reject: server_error 1]'];
		const settings = { onError: 'continueErrorOutput' as const };
		const order = { items: prompts(...texts), settings };
		const run = await stage.run('imageGeneration', plain, order);
		expect(run.hints('Step')).toEqual([
			{
				message: '2 of 3 ready. 1 failed and was refunded. 1 request was retried.',
				location: 'outputPane',
				type: 'warning',
			},
		]);
	});
});
