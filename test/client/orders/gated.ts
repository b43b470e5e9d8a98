import { randomUUID } from 'node:crypto';

import { errorFromResponse, GenerationError } from '../../../client/api/errors';
import { toResult } from '../../../client/async';
import { SlotPool, StepGate } from '../../../client/orders/slot-pool';
import { noSlot } from '../../support/answers';
import { VirtualTime } from '../../support/virtual-time';

export const HOUR = 3_600_000;
export const refusedNow = () => errorFromResponse(noSlot(12, 10), true);

/** Acts as a submission: each permit is reported with the result of the request. */
export async function passThrough<T>(
	gate: StepGate,
	slots: SlotPool,
	create: () => Promise<T>,
	timeoutMs: number,
): Promise<T> {
	const ticket = slots.ticket();
	for (;;) {
		const permit = await slots.acquire(gate, timeoutMs, ticket);
		const tried = await toResult(create);
		if (tried.ok) {
			permit('granted');
			return tried.value;
		}
		const noSlot = tried.error instanceof GenerationError && tried.error.retry === 'slot';
		if (noSlot) {
			permit(tried.error as GenerationError);
			continue;
		}
		permit('unused');
		throw tried.error;
	}
}

/** Creates a gate, and a service behind it with `free()` slots. Each request that passes takes one. */
export function gated(free: () => number, latencyMs = 0) {
	const time = new VirtualTime(0);
	const stop = new AbortController();
	const slots = new SlotPool({ clock: time, random: () => 0 });
	const gate = new StepGate(stop.signal);
	let taken = 0;
	const asked: Array<{ item: number; at: number }> = [];
	const passed: Array<{ item: number; at: number }> = [];
	const pass = async (item: number, timeoutMs = HOUR) =>
		await passThrough(
			gate,
			slots,
			async () => {
				asked.push({ item, at: time.now() });
				const made = taken < free();
				if (made) {
					taken++;
					passed.push({ item, at: time.now() });
				}
				await time.sleep(latencyMs);
				if (!made) throw refusedNow();
				return item;
			},
			timeoutMs,
		);
	/** Ends one of the generations that have passed. */
	const end = () => {
		taken--;
		slots.release(randomUUID());
	};
	return { time, stop, gate, slots, pass, end, asked, passed };
}

export function timesOf(entries: Array<{ at: number }>): number[] {
	return entries.map(({ at }) => at);
}

export function itemsOf(entries: Array<{ item: number }>): number[] {
	return entries.map(({ item }) => item);
}
