import { onAbort } from '../../client/async';

describe('an action for an abort signal', () => {
	it('is called once when it aborts', () => {
		const stop = new AbortController();
		const called: number[] = [];
		for (const number of [1, 2, 3]) onAbort(stop.signal, () => called.push(number));
		stop.abort();
		stop.abort();
		expect(called).toEqual([1, 2, 3]);
	});

	it('is not called after its registration was canceled', () => {
		const stop = new AbortController();
		const called: number[] = [];
		const forget = [1, 2, 3].map((number) => onAbort(stop.signal, () => called.push(number)));
		forget[1]();
		stop.abort();
		expect(called).toEqual([1, 3]);
	});

	it('may cancel its own registration, or others, while it is called', () => {
		const stop = new AbortController();
		const called: number[] = [];
		const forget: Array<() => void> = [];
		forget.push(
			onAbort(stop.signal, () => {
				called.push(1);
				forget.forEach((end) => end());
			}),
			onAbort(stop.signal, () => called.push(2)),
		);
		stop.abort();
		expect(called).toEqual([1]);
	});

	it('shares one listener with all actions for the same signal', () => {
		const { signal } = new AbortController();
		const added = jest.spyOn(signal, 'addEventListener');
		for (let count = 0; count < 1000; count++) onAbort(signal, () => undefined);
		expect(added).toHaveBeenCalledTimes(1);
	});
});
