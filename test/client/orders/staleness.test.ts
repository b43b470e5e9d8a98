import { Staleness } from '../../../client/orders/staleness';
import { newRow, type Row } from '../../../client/orders/table';
import { VirtualTime } from '../../support/virtual-time';

const START = Date.UTC(2026, 0, 1);
const scope = { workflowId: 'w', nodeId: 'n', executionId: 'e', writer: 'u' };

function row(changes: Partial<Row>): Row {
	return { ...newRow(scope, 'a'), writer: 'v/1', id: 1, changedAt: null, ...changes };
}

/**
 * Returns for how many seconds a row was known to be unchanged, after each of four reads with this gap between them.
 */
async function seen(
	rows: (now: number, read: number) => Row,
	gapMs = 10_000,
	readMs = 0,
	times = 1,
): Promise<number[]> {
	const time = new VirtualTime(START);
	const staleness = new Staleness();
	const seconds: number[] = [];
	const reading = async () => {
		for (let read = 0; read < 4; read++) {
			const readAt = time.now();
			const one = rows(time.now(), read);
			await time.sleep(readMs);
			for (let count = 0; count < times; count++) staleness.observe(one, readAt, time.now());
			seconds.push(staleness.unchangedMs(one) / 1000);
			await time.sleep(gapMs - readMs);
		}
	};
	await time.run(reading());
	return seconds;
}

it.each<[what: string, rows: (now: number, read: number) => Row, seconds: number[]]>([
	['from the first read on if it has no date', () => row({}), [0, 10, 20, 30]],
	[
		'from the first read on, although its date is hours old: its writer’s clock may be wrong',
		() => row({ changedAt: START - 7_200_000 }),
		[0, 10, 20, 30],
	],
	['only until its date changes', (now) => row({ changedAt: now - 7_200_000 }), [0, 0, 0, 0]],
	[
		'only until another writer has written it',
		(_, read) => row({ writer: `v/${read}` }),
		[0, 0, 0, 0],
	],
	['only until its status changes', (_, read) => row({ status: String(read) }), [0, 0, 0, 0]],
	['only until another row takes its place', (_, read) => row({ id: read }), [0, 0, 0, 0]],
])('a row is unchanged %s', async (_, rows, seconds) => {
	expect(await seen(rows)).toEqual(seconds);
});

it('the first read does not count, even if several calls share it', async () => {
	for (const calls of [1, 2])
		expect(await seen(() => row({}), 20_000, 8_000, calls)).toEqual([0, 12, 32, 52]);
});

it('time during which a process was paused, or its clock jumped, does not count', async () => {
	expect(await seen(() => row({}), 3_600_000)).toEqual([0, 20, 40, 60]);
	expect(await seen(() => row({}), -5_000)).toEqual([0, 0, 0, 0]);
});

it('the duration of a read does not count: the row may have changed right after it', async () => {
	expect(await seen(() => row({}), 10_000, 4_000)).toEqual([0, 6, 16, 26]);
});

it('a row that was never read, or that has changed since, is not known to be unchanged', () => {
	const staleness = new Staleness();
	expect(staleness.unchangedMs(row({}))).toBe(0);
	staleness.observe(row({}), START, START);
	expect(staleness.unchangedMs(row({ writer: 'v/2' }))).toBe(0);
});
