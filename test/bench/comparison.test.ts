import { sideBySide } from '../../bench/compare/comparison';
import type { Comparison, Row } from '../../bench/compare/comparison';

function row(approach: string, seconds: number, paidTwice: number): Row {
	const recovery = { credits: 80 + 4 * paidTwice, paidTwice };
	return {
		approach,
		speed: { seconds, requestsPerVideo: 4.25 },
		memoryBytes: 20 * 1024 ** 2,
		failedGeneration: recovery,
		refusedRequest: { ...recovery, credits: 80, paidTwice: 0 },
		stop: { requestsAfter: 1, paid: 3, idsKept: 2 },
	};
}

const comparison: Comparison = {
	date: '2026-11-20',
	n8n: '2.41.1',
	node: 'v20.0.0',
	machine: { cores: 2, model: 'Some', memoryGiB: 24 },
	videos: 20,
	secondsEach: 20,
	limit: 10,
	rows: [row('Ours', 40, 0), row('"A" & <B>', 400, 14)],
};

it('sets the times against the first row, and names what was paid twice', () => {
	const columns = sideBySide(comparison).map(Object.values);
	const first = ['40 s', '4.3', '0', '20 MB', '80 credits', '80 credits', '1', '2 of 3'];
	expect(columns.map(([, own]) => own)).toEqual(first);
	expect(columns.map(([, , other]) => other)).toEqual([
		'400 s (10.0 times)',
		...first.slice(1, 4),
		'136 credits, 14 videos paid twice',
		...first.slice(5),
	]);
});
