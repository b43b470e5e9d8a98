import { playAsleep, type AsleepSchedule } from './simulation/asleep';

/** Schedules of sleeping batches that once broke a promise. */

/** A wave dies after a generation of the batch failed and was created again. */
const failedAndDied: AsleepSchedule = {
	items: ['fails once', 'fails', 'made'],
	seconds: 100,
	limit: 2,
	latencyMs: 0,
	stopOnError: false,
	onUncertainCharge: 'error',
	retriesOnFailure: 1,
	maxNewGenerations: 4,
	lives: [null, null, null, 121],
	stopsAfterMs: null,
	wavesWithoutIds: 0,
	outage: null,
	seed: 0,
};

it('a generation that failed counts for the limit if the next wave dies', async () => {
	const { night } = await playAsleep(failedAndDied);
	expect(night.deaths).toBe(1);
});

/** Two generations of an item fail within a wave that dies. */
const failedTwiceAndDied: AsleepSchedule = {
	...failedAndDied,
	items: ['made', 'fails'],
	seconds: 20,
	limit: 1,
	retriesOnFailure: 2,
	maxNewGenerations: null,
	lives: [581, 40_786],
};

it('an item is not created again more often because a wave dies that saw it fail', async () => {
	const { night } = await playAsleep(failedTwiceAndDied);
	expect(night.deaths).toBe(1);
});

/** A wave dies that was charged, after an earlier wave has sent a request again. */
const resentAndDied: AsleepSchedule = {
	...failedAndDied,
	items: ['answer lost', 'answer lost', 'made'],
	seconds: 20,
	limit: 1,
	onUncertainCharge: 'resubmit',
	retriesOnFailure: 0,
	lives: [null, 17_599],
	wavesWithoutIds: 2,
	seed: 271_652,
};

it('what a wave spent that died counts for the limit, also if requests were sent again before', async () => {
	const { night } = await playAsleep(resentAndDied);
	expect(night.deaths).toBe(1);
});
