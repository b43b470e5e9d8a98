import { inTurn } from '../../../client/paying/in-turn';

/** Tasks that are ended by hand, and what has become of them. */
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

describe('tasks in turn', () => {
	it('run one after the other where record and key are the same', async () => {
		const { begun, end, task } = tasks();
		const record = {};
		const all = ['first', 'second'].map(async (name) => await inTurn(record, 'key', task(name)));
		await settled();
		expect(begun).toEqual(['first']);
		end.first();
		await settled();
		end.second();
		expect(await Promise.all(all)).toEqual(['first', 'second']);
	});

	it('run at once where the record or the key is another', async () => {
		const { begun, task } = tasks();
		const record = {};
		void inTurn(record, 'key', task('first'));
		void inTurn(record, 'other', task('second'));
		void inTurn({}, 'key', task('third'));
		await settled();
		expect(begun).toEqual(['first', 'second', 'third']);
	});

	it('go on where the one before has failed, whose error is its own', async () => {
		const { end, task } = tasks();
		const record = {};
		const first = inTurn(record, 'key', task('first'));
		const second = inTurn(record, 'key', task('second'));
		await settled();
		end.first(new Error('refused'));
		await expect(first).rejects.toThrow('refused');
		await settled();
		end.second();
		expect(await second).toBe('second');
	});
});
