import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../sandbox/server';
import { GenerationService } from '../../sandbox/service';
import type { ServiceOptions } from '../../sandbox/service';
import { getBytes } from '../../tools/http';
import { createOverHttp, lookOverHttp } from './over-http';
import { VirtualSandbox } from './virtual';

/** A sandbox that keeps its books in a file. */

let folder: string;
let file: string;
beforeEach(() => {
	folder = fs.mkdtempSync(join(tmpdir(), 'books-'));
	file = join(folder, 'books.jsonl');
});
afterEach(() => {
	fs.rmSync(folder, { recursive: true });
});

/** The sandbox after another start, with another seed as in `npm start`. */
let seed = 1;
const started = (options: ServiceOptions = {}) =>
	new VirtualSandbox({ keepIn: file, seed: seed++, ...options });
const restarted = () => started().service.books.totals;

describe('after a restart', () => {
	it('serves the same file at a URL of before', async () => {
		const first = await startSandbox({ generationSeconds: 0, seed: 1, keepIn: file });
		const { id } = await createOverHttp(first);
		const [{ url }] = (await lookOverHttp(first, id)).data;
		const picture = await getBytes(url);
		await first.close();
		const second = await startSandbox({ generationSeconds: 0, seed: 2, keepIn: file });
		expect(await lookOverHttp(second, id)).toMatchObject({ status: 'completed' });
		const { pathname, search } = new URL(url);
		const { status, data } = await getBytes(`${second.storageUrl}${pathname}${search}`);
		expect([status, data.equals(picture.data)]).toEqual([200, true]);
		await second.close();
	});

	it('knows its generations and their charges, and continues those that run', () => {
		const before = started();
		const { id: failed } = before.created({ prompt: 'A ship [fail: no paint]' });
		before.clock.pass(10);
		before.service.settle();
		const { id } = before.created();
		const after = started();
		after.clock.pass(15);
		expect(after.look(failed)).toMatchObject({ status: 'failed', error: { message: 'no paint' } });
		expect(after.look(id).status).toMatch(/pending|processing/);
		expect(after.balance()).toBe(99_992);
		after.service.finish(id);
		const last = started();
		last.clock.pass(15);
		expect(last.look(id).status).toBe('completed');
		expect(last.service.books.totals).toMatchObject({ created: 2, charged: 16, refunded: 8 });
	});

	it('gives no generation the ID of an earlier one, although the seed is the same', () => {
		const made = [0, 1, 2].map(() => started({ seed: 7 }).created().id);
		expect(new Set(made).size).toBe(3);
		for (const id of made) expect(started({ seed: 7 }).look(id).id).toBe(id);
	});

	it('has kept no keys, and no megabytes of inline data', () => {
		const value = `data:image/png;base64,${'A'.repeat(100_000)}`;
		started().created({ inputs: [{ type: 'image', source: 'data', value }] });
		const kept = fs.readFileSync(file, 'utf8');
		expect(kept.length).toBeLessThan(10_000);
		expect(kept).not.toContain('svc_live_');
	});
});

describe('the sandbox does not start, and does not change the file', () => {
	it.each([
		['of another program', 'My notes\n', 'not contain the books'],
		['of a later release', '{"v":2,"secret":"a"}\n', 'not contain the books'],
		['with a line break only', '\n', 'not contain the books'],
		...['{"generation":{"id":"ha', '{"generation":null}', '{}', 'null', ''].map((line) => [
			`with the damaged line ${line}`,
			`{"v":1,"secret":"a"}\n{"undone":"a"}\n${line}\n{"undone":"b"}\n`,
			'Line 3 of ',
		]),
	])('if it is a file %s', (_, text, error) => {
		fs.writeFileSync(file, text);
		expect(() => new GenerationService({ keepIn: file })).toThrow(error);
		expect(fs.readFileSync(file, 'utf8')).toBe(text);
	});
});

it('a line that was cut off when the program was killed costs only itself', () => {
	fs.writeFileSync(file, '');
	started().created();
	fs.writeFileSync(file, fs.readFileSync(file, 'utf8').trimEnd());
	expect(restarted().created).toBe(1);
	fs.appendFileSync(file, '{"generation":{"id":"half');
	started().created();
	expect(restarted().created).toBe(2);
});
