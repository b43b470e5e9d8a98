import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceOptions } from '../../sandbox/service';
import { VirtualSandbox } from './virtual';

/** What a sandbox knows after a restart, in virtual time. */

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'books-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const started = (options: ServiceOptions = {}) =>
	new VirtualSandbox({ keepIn: join(folder, 'books.jsonl'), ...options });

it('no generation gets the ID of an earlier one, although the seed is the same', () => {
	const made = [0, 1, 2].map(() => {
		const sandbox = started({ seed: 7 });
		return [sandbox.created().id, sandbox.created().id];
	});
	expect(new Set(made.flat()).size).toBe(6);
	const sandbox = started({ seed: 7 });
	for (const id of made.flat()) expect(sandbox.look(id).id).toBe(id);
});

describe('an account', () => {
	const summary = (sandbox: VirtualSandbox) =>
		sandbox.send('GET', '/v1/credits/balance', undefined, 'trial').body;

	it('keeps the credits that it was given, less what it has spent', () => {
		const before = started();
		before.service.accounts.setCredits('trial', 20);
		before.created({}, 'trial');
		before.created({ prompt: '[fail]' }, 'trial');
		before.service.accounts.setCredits('trial', 50_000);
		before.created({}, 'trial');
		before.clock.pass(10);
		before.service.settle();
		const after = started();
		after.clock.pass(10);
		after.service.settle();
		expect(after.balance('trial')).toBe(50_000);
		expect(summary(after)).toEqual(summary(before));
	});

	it('keeps its concurrency limit, also beyond the next start', () => {
		started().service.accounts.setConcurrency('trial', 3);
		started().service.accounts.setCredits('trial', 5);
		const { concurrency, balance } = started().service.accounts.account('trial');
		expect([concurrency, balance]).toEqual([3, 5]);
	});

	it('is as at the first start after a reset', () => {
		const before = started();
		before.service.accounts.setCredits('trial', 5);
		before.service.reset();
		expect([before.balance('trial'), started().balance('trial')]).toEqual([1_000, 1_000]);
	});
});
