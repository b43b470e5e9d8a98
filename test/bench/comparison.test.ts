import { drawComparison } from '../../bench/compare/chart';
import { tableOf } from '../../bench/compare/comparison';
import type { Comparison, Row } from '../../bench/compare/comparison';

function row(approach: string, seconds: number, paidTwice: number): Row {
	const recovery = { credits: 80 + 4 * paidTwice, paidTwice, retries: 1, reruns: 0 };
	return {
		approach,
		speed: { seconds, requestsPerVideo: 4.25 },
		memoryBytes: 20 * 1024 ** 2,
		failedGeneration: recovery,
		refusedRequest: { ...recovery, credits: 80, paidTwice: 0 },
		stop: { requestsAfter: 1, paidAfter: 0, paid: 3, idsKept: 2 },
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
	price: 80,
	rows: [row('Ours', 40, 0), row('"A" & <B>', 400, 14)],
};

it('sets the times against the first row, and names what was paid twice', () => {
	const [first, second] = tableOf(comparison).map((cells) => Object.values(cells));
	expect(first).toEqual(['Ours', 40, '1', '4.3', '0.0', 20, '80', '80', 1, '2 of 3']);
	expect(second).toEqual([
		'"A" & <B>',
		400,
		'10.0',
		'4.3',
		'0.0',
		20,
		'136, 14 paid twice',
		'80',
		1,
		'2 of 3',
	]);
});

it('draws bars as long as the times, and text that is text', () => {
	const drawn = drawComparison(comparison);
	const [own, other] = [...drawn.matchAll(/width="([\d.]+)" height="20"/g)].map((bar) =>
		Number(bar[1]),
	);
	expect(other / own).toBeCloseTo(10);
	expect(drawn).toContain('>"A" &amp; &lt;B></text>'.replace(/"/g, '&quot;'));
	expect(drawn).toContain('aria-label="Ours: 40 s; &quot;A&quot; &amp; &lt;B>: 400 s"');
});
