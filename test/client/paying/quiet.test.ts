import { Quiet } from '../../../client/paying/quiet';
import { claimedRow } from '../../../client/paying/record-rows';
import type { RecordRow } from '../../../client/paying/record-store';
import { VirtualTime } from '../../support/virtual-time';

const START = Date.UTC(2026, 0, 1);
const scope = { workflowId: 'w', nodeId: 'n', executionId: 'e', writer: 'u' };

function row(changes: Partial<RecordRow>): RecordRow {
	return { ...claimedRow(scope, 'a', 'u/1'), id: 1, born: '', changedAt: null, ...changes };
}

/** What is told of rows that are looked at every ten seconds. */
async function told(rows: (now: number, look: number) => RecordRow): Promise<number[]> {
	const time = new VirtualTime(START);
	const quiet = new Quiet(time);
	const since: number[] = [];
	const looking = async () => {
		for (let look = 0; look < 4; look++) {
			since.push(quiet.since(rows(time.now(), look)) / 1000);
			await time.sleep(10_000);
		}
	};
	await time.run(looking());
	return since;
}

it.each<[what: string, rows: (now: number, look: number) => RecordRow, seconds: number[]]>([
	['since it was first looked at, where the table does not say', () => row({}), [0, 10, 20, 30]],
	[
		'since it was first looked at, as its writer’s clock may be two minutes behind',
		() => row({ changedAt: START - 110_000 }),
		[0, 10, 20, 30],
	],
	[
		'since two minutes after its last change, where that was before',
		() => row({ changedAt: START - 150_000 }),
		[30, 40, 50, 60],
	],
	['not while its writer is heard of', (now) => row({ changedAt: now }), [0, 0, 0, 0]],
	['not where another has written', (_, look) => row({ writer: `u/${look}` }), [0, 0, 0, 0]],
	['not where its state has changed', (_, look) => row({ status: String(look) }), [0, 0, 0, 0]],
	['not where it is another row', (_, look) => row({ id: look }), [0, 0, 0, 0]],
])('a row has stood still %s', async (_, rows, seconds) => {
	expect(await told(rows)).toEqual(seconds);
});
