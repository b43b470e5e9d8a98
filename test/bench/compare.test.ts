import { sideBySide, type Measurements } from '../../bench/compare';

function measurements(approach: string, seconds: number, paidTwice: number): Measurements {
	return {
		approach,
		speed: { seconds, requestsPerVideo: 4.25, probesPerVideo: 0 },
		failedGeneration: { credits: 80 + 4 * paidTwice, paidTwice },
		refusedRequest: { credits: 80, paidTwice: 0 },
		stop: { paid: 3, idsKept: 2 },
		growthBytes: 39.4 * 1024 ** 2,
	};
}

it('sets the times against the first approach, and names what was paid twice', () => {
	const rows = sideBySide([measurements('Ours', 40, 0), measurements('"A" & <B>', 400, 14)]);
	expect(Object.keys(rows[0])).toEqual(['', '**Ours**', '"A" & <B>']);
	const columns = rows.map(Object.values);
	const first = ['40 s', '4.3', '0', '80 credits', '80 credits', '2 of 3', '39 MB'];
	expect(columns.map(([, own]) => own)).toEqual(first);
	expect(columns.map(([, , other]) => other)).toEqual([
		'400 s (10.0 times)',
		...first.slice(1, 3),
		'136 credits, 14 videos paid twice',
		...first.slice(4),
	]);
});
