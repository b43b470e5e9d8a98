import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startSandbox } from '../../sandbox/server';
import type { Sandbox, SandboxOptions } from '../../sandbox/server';
import { getBytes, http } from '../../tools/http';

/** A sandbox that keeps its books in a file. */

let folder: string;
let sandbox: Sandbox;
const file = () => join(folder, 'books.jsonl');

beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), 'books-'));
	await start();
});
afterEach(async () => {
	await sandbox.close();
	rmSync(folder, { recursive: true });
});

async function start(options: SandboxOptions = {}): Promise<void> {
	// As in `npm start`, each start has its own seed.
	const seed = Math.floor(Math.random() * 2 ** 31);
	sandbox = await startSandbox({ generationSeconds: 0, seed, keepIn: file(), ...options });
}

async function restart(options?: SandboxOptions): Promise<void> {
	await sandbox.close();
	await start(options);
}

const headers = () => ({ authorization: `Bearer ${sandbox.keys.main}` });

async function create(prompt: string): Promise<string> {
	const body = { model: 'lumen-turbo', prompt };
	const { data } = await http.post<{ id: string }>(`${sandbox.url}/v1/images/generations`, body, {
		headers: headers(),
	});
	return data.id;
}

const look = async (id: string) =>
	await http.get<{ status: string; data: Array<{ url: string }> }>(
		`${sandbox.url}/v1/generations/${id}`,
		{ headers: headers() },
	);

it('knows its generations, their charges and their files after a restart', async () => {
	const id = await create('A boat');
	const failed = await create('A ship [fail: no paint]');
	const before = (await look(id)).data;
	const picture = await getBytes(before.data[0].url);
	const books = sandbox.books.generations.map(({ id, state, charged, refunded }) => ({
		...{ id, state, charged, refunded },
	}));
	await restart();
	expect(sandbox.books.generations).toMatchObject(books);
	expect(sandbox.service.accounts.account('main').balance).toBe(99_999);
	const after = await look(id);
	expect([after.status, after.data.status]).toEqual([200, 'completed']);
	expect((await getBytes(after.data.data[0].url)).data).toEqual(picture.data);
	expect((await look(failed)).data).toMatchObject({
		status: 'failed',
		error: { message: 'no paint' },
	});
	expect(await create('Another')).not.toBe(id);
});

it('continues a generation that was running', async () => {
	await restart({ generationSeconds: 3600 });
	const id = await create('A boat');
	await restart();
	expect((await look(id)).data.status).toMatch(/pending|processing/);
	sandbox.service.finish(id);
	await restart();
	expect((await look(id)).data.status).toBe('completed');
	expect(sandbox.books.totals).toMatchObject({ created: 1, charged: 1, refunded: 0 });
});

it('a presigned URL from before the restart is valid for the rest of its hour', async () => {
	const { data } = await look(await create('A boat'));
	const { pathname, search } = new URL(data.data[0].url);
	await restart();
	const { status } = await getBytes(`${sandbox.storageUrl}${pathname}${search}`);
	expect(status).toBe(200);
});

it('a line that was cut off when the program was killed costs only itself', async () => {
	const id = await create('A boat');
	await sandbox.close();
	appendFileSync(file(), '{"generation":{"id":"half');
	await start();
	expect(sandbox.books.generations.map((entry) => entry.id)).toEqual([id]);
	await create('A ship');
	await restart();
	expect(sandbox.books.totals.created).toBe(2);
});

it('an app that connects after a restart has used nothing yet', async () => {
	const connect = (title: string) => {
		const { accounts, apps } = sandbox.service;
		return apps.connect(title, title, accounts.account('main'), 0);
	};
	const body = { model: 'lumen-turbo', prompt: 'A boat' };
	const request = { method: 'POST', path: '/v1/images/generations', headers: {}, body };
	connect('first');
	sandbox.service.handle({ ...request, caller: connect('second') });
	await restart();
	const { name } = connect('another');
	expect([name, sandbox.books.usedInDay(name)]).toEqual(['app-3', 0]);
	expect(sandbox.books.usedInDay('app-2')).toBe(1);
	sandbox.reset();
	expect(connect('first').name).toBe('app-1');
});

it('forgets everything after a reset', async () => {
	await create('A boat');
	sandbox.reset();
	await restart();
	expect(sandbox.books.generations).toEqual([]);
});

it('does not keep the keys, and not megabytes of inline data', async () => {
	const value = `data:image/png;base64,${'A'.repeat(100_000)}`;
	const body = {
		model: 'aurora-image-1',
		prompt: 'A boat',
		inputs: [{ type: 'image', source: 'data', value }],
	};
	await http.post(`${sandbox.url}/v1/images/generations`, body, { headers: headers() });
	const kept = readFileSync(file(), 'utf8');
	expect(kept.length).toBeLessThan(10_000);
	expect(kept).not.toContain(sandbox.keys.main);
});
