import { batched } from '../../client/async';
import { VirtualTime } from '../support/virtual-time';

const time = new VirtualTime();
let groups: string[][] = [];
beforeEach(() => (groups = []));

/** Runs each group for one second. */
async function shout(group: string[]): Promise<string[]> {
	groups.push(group);
	await time.sleep(1000);
	if (group.includes('bad')) throw new Error('refused');
	return group.map((word) => word.toUpperCase());
}

it('calls of the same tick run as one group, and each gets its own result', async () => {
	const ask = batched(shout);
	const answers = time.run(Promise.all(['a', 'b', 'c'].map(ask)));
	expect(await answers).toEqual(['A', 'B', 'C']);
	expect(groups).toEqual([['a', 'b', 'c']]);
});

it('calls during a group run together as the next group', async () => {
	const ask = batched(shout);
	const first = ask('a');
	time.at(time.now() + 100, () => void ask('b'));
	time.at(time.now() + 900, () => void ask('c'));
	await time.run(first);
	await time.run(time.sleep(2000));
	expect(groups).toEqual([['a'], ['b', 'c']]);
});

it('a group that fails rejects each of its calls, and later calls still run', async () => {
	const ask = batched(shout);
	const asked = Promise.allSettled([ask('a'), ask('bad')]);
	const outcomes = await time.run(asked);
	expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
	expect(await time.run(ask('b'))).toBe('B');
});

it('calls join a group until it may start', async () => {
	const ready = time.sleep(1000);
	const ask = batched(shout, async () => await ready);
	const first = ask('a');
	time.at(time.now() + 900, () => void ask('b'));
	await time.run(first);
	expect(groups).toEqual([['a', 'b']]);
});
