import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeptBooksError } from '../../sandbox/books/kept-books';
import { fetchInputs } from '../../sandbox/generations/fetched-inputs';
import type { Generation } from '../../sandbox/generations/generations';
import { GenerationService } from '../../sandbox/service';
import { VirtualSandbox } from './virtual';

/** What becomes of the books if their file cannot be written, or is not one. */

let folder: string;
let file: string;
beforeEach(() => {
	folder = fs.mkdtempSync(join(tmpdir(), 'books-'));
	file = join(folder, 'books.jsonl');
});
afterEach(() => {
	jest.restoreAllMocks();
	fs.rmSync(folder, { recursive: true });
});

/** The next line is written only in part, as on a full disk. */
function fillDisk(): void {
	const append = fs.appendFileSync;
	jest.spyOn(fs, 'appendFileSync').mockImplementationOnce((path, line) => {
		append(path, String(line).slice(0, 20));
		throw new Error('ENOSPC');
	});
}

const restarted = () => new GenerationService({ keepIn: file }).books.totals;

describe('on a full disk', () => {
	it('a generation that cannot be stored is not charged', () => {
		const sandbox = new VirtualSandbox({ keepIn: file });
		fillDisk();
		expect(() => sandbox.image()).toThrow('ENOSPC');
		expect([sandbox.balance(), sandbox.service.books.totals.created]).toEqual([100_000, 0]);
		expect(sandbox.service.runningOf('main')).toBe(0);
	});

	it('a change of an account that cannot be stored is not made', () => {
		const { accounts } = new VirtualSandbox({ keepIn: file }).service;
		fillDisk();
		expect(() => accounts.setCredits('main', 5)).toThrow('ENOSPC');
		expect(accounts.account('main').balance).toBe(100_000);
	});

	it('half a line does not damage the next one', () => {
		const sandbox = new VirtualSandbox({ keepIn: file });
		fillDisk();
		expect(() => sandbox.image()).toThrow('ENOSPC');
		sandbox.created();
		expect(restarted()).toMatchObject({ created: 1, charged: 8 });
	});

	it('a generation whose removal cannot be stored stays charged', () => {
		const sandbox = new VirtualSandbox({ keepIn: file });
		const action = { kind: 'delay', ms: 1 } as const;
		sandbox.service.faults.order({ on: 'create', action });
		const reply = sandbox.image();
		sandbox.service.accounts.keyOf('main').state = 'revoked';
		fillDisk();
		const request = { method: 'POST', path: '', headers: {} };
		expect(() => sandbox.service.late(request, reply)).toThrow('ENOSPC');
		expect(sandbox.service.books.totals.charged).toBe(8);
		expect(restarted().charged).toBe(8);
	});

	it('a generation whose inputs were fetched ends, with a warning', async () => {
		const warned = jest.spyOn(process, 'emitWarning').mockImplementation();
		const request = { image_url: 'http://127.0.0.1:9/' };
		const generation = { id: 'a', request, fetched: [], finishAt: 5 } as unknown as Generation;
		await fetchInputs(generation, {}, { now: () => 7 } as never, () => {
			throw new Error('ENOSPC');
		});
		expect(generation.finishAt).toBe(7);
		expect(warned).toHaveBeenCalledWith(expect.stringContaining('ENOSPC'));
	});
});

it('a generation that a reset has removed is not stored again when its inputs arrive', async () => {
	const sandbox = new VirtualSandbox({ keepIn: file, fetchInputs: {} });
	sandbox.video({ image_url: 'http://127.0.0.1:9/' });
	sandbox.service.reset();
	await new Promise((resolve) => setTimeout(resolve, 50));
	expect(restarted().created).toBe(0);
});

describe('the sandbox does not start, and does not change the file', () => {
	const head = '{"v":1,"secret":"a"}\n';

	it.each([
		['of another program', 'My notes\n'],
		['with other JSON', '{"generation":{"id":"a"}}\n'],
		['of a later release', '{"v":2,"secret":"a"}\n'],
		['with nothing but a line break', '\n'],
	])('if it is a file %s', (_, text) => {
		fs.writeFileSync(file, text);
		expect(() => new GenerationService({ keepIn: file })).toThrow('not contain the books');
		expect(fs.readFileSync(file, 'utf8')).toBe(text);
	});

	it.each(['{"generation":{"id":"ha', '{"generation":null}', '{}', '[]', 'null', ''])(
		'if a line is damaged: %s',
		(line) => {
			const text = `${head}{"undone":"a"}\n${line}\n{"undone":"b"}\n`;
			fs.writeFileSync(file, text);
			expect(() => new GenerationService({ keepIn: file })).toThrow('Line 3 of ');
			expect(fs.readFileSync(file, 'utf8')).toBe(text);
		},
	);
});

it.each([
	['a folder', () => folder],
	['in a folder that does not exist', () => join(folder, 'none', 'books.jsonl')],
])('the sandbox does not start if the file is %s', (_, name) => {
	const start = () => new GenerationService({ keepIn: name() });
	expect(start).toThrow(KeptBooksError);
	expect(start).toThrow(`${name()} cannot be used: E`);
});

it('an empty file is filled, and a last line without a line break is read', () => {
	fs.writeFileSync(file, '');
	new VirtualSandbox({ keepIn: file }).created();
	fs.writeFileSync(file, fs.readFileSync(file, 'utf8').trimEnd());
	expect(restarted().created).toBe(1);
	expect(restarted().created).toBe(1);
});
