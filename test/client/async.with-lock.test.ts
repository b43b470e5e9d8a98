import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { withLock } from '../../client/async';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Tasks that the test ends, and their results. */
function tasks() {
	const begun: string[] = [];
	const end: Record<string, (error?: Error) => void> = {};
	const task = (name: string) => async () => {
		begun.push(name);
		await new Promise<void>((resolve, reject) => {
			end[name] = (error) => (error ? reject(error) : resolve());
		});
		return name;
	};
	return { begun, end, task };
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));

describe('tasks with a lock', () => {
	it('run one after the other if object and key are the same', async () => {
		const { begun, end, task } = tasks();
		const record = {};
		const all = ['first', 'second'].map(async (name) => await withLock(record, 'key', task(name)));
		await settled();
		expect(begun).toEqual(['first']);
		end.first();
		await settled();
		end.second();
		expect(await Promise.all(all)).toEqual(['first', 'second']);
	});

	it('run at once if the object or the key differs', async () => {
		const { begun, task } = tasks();
		const record = {};
		void withLock(record, 'key', task('first'));
		void withLock(record, 'other', task('second'));
		void withLock({}, 'key', task('third'));
		await settled();
		expect(begun).toEqual(['first', 'second', 'third']);
	});

	it('continue after a task that failed, and its error does not affect them', async () => {
		const { end, task } = tasks();
		const record = {};
		const first = withLock(record, 'key', task('first'));
		const second = withLock(record, 'key', task('second'));
		await settled();
		end.first(new Error('refused'));
		await expect(first).rejects.toThrow('refused');
		await settled();
		end.second();
		expect(await second).toBe('second');
	});

	it('leave nothing in memory once they have ended', async () => {
		const record = {};
		const run = async (count: number) => {
			for (let index = 0; index < count; index++) {
				const key = Array.from({ length: 1_000 }, () => index).join(' ');
				await Promise.all([1, 2].map(async () => await withLock(record, key, async () => {})));
			}
			collectGarbage();
			return process.memoryUsage().heapUsed;
		};
		const before = await run(1);
		const megabytes = ((await run(5_000)) - before) / 1024 / 1024;
		expect(megabytes).toBeLessThan(10);
		expect(await withLock(record, 'key', async () => 'done')).toBe('done');
	});

	it('with a key that was used before still run one after the other', async () => {
		const { begun, end, task } = tasks();
		const record = {};
		const first = withLock(record, 'key', task('first'));
		await settled();
		end.first();
		await first;
		const all = ['second', 'third'].map(async (name) => await withLock(record, 'key', task(name)));
		await settled();
		expect(begun).toEqual(['first', 'second']);
		end.second();
		await settled();
		end.third();
		await Promise.all(all);
	});
});
