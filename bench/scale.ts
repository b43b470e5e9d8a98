import { SlotPool } from '../client/orders/slot-pool';
import { seededRandom } from '../sandbox/basics/random';
import { logNormal } from '../sandbox/generations/timing';
import { GenerationService } from '../sandbox/service';
import { idealMakespan } from '../test/support/makespan';
import { VirtualTime } from '../test/support/virtual-time';
import { median, type Tables } from './report';
import { runSimulatedStep } from './simulated-step';

const EXECUTIONS = 10_000;
const LIMIT = 25;
/** Rate of arriving generations, divided by the account's capacity. Above 1, a queue builds up. */
const LOAD = 0.95;
/** Median seconds of a generation. Their times are log-normal, with a sigma of 0.3. */
const SECONDS = 20;
/**
 * Many executions with one generation each, which share an account and know nothing about each other, in virtual time.
 *
 * @throws if an execution fails
 */
export async function scale(quick: boolean): Promise<Tables> {
	const executions = quick ? 300 : EXECUTIONS;
	const time = new VirtualTime();
	const random = seededRandom(1);
	const generationSeconds = logNormal(SECONDS, 0.3);
	const service = new GenerationService({ clock: time, seed: 1, generationSeconds });
	const { account, key } = service.accounts.keyOf('enterprise');
	account.concurrency = LIMIT;

	const start = time.now();
	const meanGap = (SECONDS * 1000) / (LIMIT * LOAD);
	let arrival = start;
	const arrivals = Array.from(
		{ length: executions },
		() => (arrival -= Math.log(1 - random()) * meanGap),
	);
	const execute = async (at: number, index: number) => {
		await time.sleep(at - start);
		const jitter = seededRandom(1e6 + index);
		const slots = new SlotPool({ clock: time, random: jitter });
		const ports = { service, time, random: jitter, key, slots };
		const { outcomes } = await runSimulatedStep({
			...{ ...ports, items: 1, maxConcurrent: 10, readiness: 'auto' },
			timeoutMs: 24 * 3_600_000,
		});
		const [outcome] = outcomes;
		if (outcome.kind !== 'done') throw new Error(`Execution ${index}: ${outcome.kind}`);
		return { id: outcome.generation.id, spent: time.now() - at };
	};
	const ended = await time.run(Promise.all(arrivals.map(execute)));
	const makespan = (time.now() - start) / 1000;

	const entries = service.books.generations;
	const taken = new Map(entries.map(({ id, created, finishes }) => [id, finishes - created]));
	const waits = ended.map(({ id, spent }) => (spent - (taken.get(id) ?? 0)) / 1000);
	const durations = entries.map(({ id }) => (taken.get(id) ?? 0) / 1000);
	const arrived = arrivals.map((at) => (at - start) / 1000);
	const row = {
		'slots busy, of the ideal': (idealMakespan(durations, LIMIT, arrived) / makespan).toFixed(3),
		'median wait': `${median(waits).toFixed(0)} s`,
		'longest wait': `${Math.max(...waits).toFixed(0)} s`,
		'requests each': Number((service.requests.arrived.service / entries.length).toFixed(1)),
	};
	return { scale: [row] };
}
