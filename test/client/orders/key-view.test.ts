import { KeyView } from '../../../client/orders/key-view';
import { newRow, type Row } from '../../../client/orders/table';
import { VirtualTime } from '../../support/virtual-time';

const START = Date.UTC(2026, 0, 1);
const scope = { workflowId: 'w', nodeId: 'n', executionId: 'e', writer: 'u' };

function row(changes: Partial<Row>): Row {
	return { ...newRow(scope, 'a'), writer: 'v/1', id: 1, changedAt: null, ...changes };
}

const viewAt = (time: VirtualTime) => new KeyView(scope, time, () => false);

/** For how many seconds a row was seen to stand still, after each of four reads that are so far apart. */
async function seen(
	rows: (now: number, read: number) => Row,
	gapMs = 10_000,
	readMs = 0,
): Promise<number[]> {
	const time = new VirtualTime(START);
	const view = viewAt(time);
	const seconds: number[] = [];
	const reading = async () => {
		for (let read = 0; read < 4; read++) {
			const readFrom = time.now();
			const one = rows(time.now(), read);
			await time.sleep(readMs);
			view.observe('a', { rows: [one], from: readFrom });
			seconds.push(view.stillMs(one) / 1000);
			await time.sleep(gapMs - readMs);
		}
	};
	await time.run(reading());
	return seconds;
}

it.each<[what: string, rows: (now: number, read: number) => Row, seconds: number[]]>([
	['from the first read on, where it has no date', () => row({}), [0, 10, 20, 30]],
	[
		'from the first read on, although its date is hours old: its writer’s clock may be wrong',
		() => row({ changedAt: START - 7_200_000 }),
		[0, 10, 20, 30],
	],
	['not while its date changes', (now) => row({ changedAt: now - 7_200_000 }), [0, 0, 0, 0]],
	['not where another has written', (_, read) => row({ writer: `v/${read}` }), [0, 0, 0, 0]],
	['not where its status has changed', (_, read) => row({ status: String(read) }), [0, 0, 0, 0]],
	['not where it is another row', (_, read) => row({ id: read }), [0, 0, 0, 0]],
])('a row stands still %s', async (_, rows, seconds) => {
	expect(await seen(rows)).toEqual(seconds);
});

it('the time of a process that was paused, or whose clock jumped, does not count', async () => {
	expect(await seen(() => row({}), 3_600_000)).toEqual([0, 20, 40, 60]);
	expect(await seen(() => row({}), -5_000)).toEqual([0, 0, 0, 0]);
});

it('the time that a read takes does not count: the row may have changed right after it', async () => {
	expect(await seen(() => row({}), 10_000, 4_000)).toEqual([0, 6, 16, 26]);
});

it('a row that was never read is not known to stand still, nor is one that has changed since', () => {
	const view = viewAt(new VirtualTime(START));
	expect(view.stillMs(row({}))).toBe(0);
	view.observe('a', { rows: [row({})], from: START });
	expect(view.stillMs(row({ writer: 'v/2' }))).toBe(0);
});
