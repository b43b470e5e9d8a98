import { slotUse, type Span } from './slots';

const span = (from: number, to: number): Span => ({ from, to });

it('counts no more items than there are slots', () => {
	const wanted = [span(0, 10), span(0, 10), span(0, 10)];
	expect(slotUse([span(0, 10), span(0, 10)], wanted, 2)).toBe(1);
	expect(slotUse([span(0, 10), span(5, 10)], wanted, 2)).toBe(0.75);
});

it('ignores times without demand', () => {
	const spans = [span(100, 110), span(500, 510)];
	expect(slotUse(spans, spans, 25)).toBe(1);
	expect(slotUse([span(105, 110)], [span(100, 110)], 25)).toBe(0.5);
});
