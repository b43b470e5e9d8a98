import fc from 'fast-check';

import { GenerationError } from '../../../client/api/errors';
import { GenerationRecord } from '../../../client/paying/record';
import { seededRandom } from '../../../sandbox/basics/random';
import { MemoryTable, type TableFate } from '../../support/memory-table';
import { VirtualTime } from '../../support/virtual-time';
import type { Clock } from '../../../client/ports';

/** Executions that meet at one record: one after the other and side by side, killed at any moment, on a table that fails. */

interface Play {
	seed: number;
	keys: number;
	reusesIds: boolean;
	/** How likely a call of the table fails, and how slow the calls may be. */
	tableFails: number;
	tableMs: number;
	/** How likely an answer is lost, a request is refused for want of a slot, and a generation fails later. */
	lost: number;
	refused: number;
	fails: number;
	executions: Array<{
		startMs: number;
		diesAfterMs: number | null;
		atOnce: number;
		twins: boolean;
	}>;
}

type Outcome = { id: string } | { error: string };

class Service {
	readonly made: Array<{ key: string; id: string; failed: boolean }> = [];
	readonly uncertain = new Set<string>();

	liveOf(key: string) {
		return this.made.filter((one) => one.key === key && !one.failed);
	}
}

/** A process that may be killed: from then on nothing that it waits for ever comes. */
class Process {
	readonly clock: Clock;
	private dead = false;
	readonly death: Promise<void>;
	private die!: () => void;
	/** Keys whose request has left or is about to, and whose id may not be on record yet. */
	readonly sending = new Map<object, string>();

	constructor(time: VirtualTime) {
		this.death = new Promise((resolve) => (this.die = resolve));
		this.clock = {
			now: () => time.now(),
			sleep: async (ms, signal) => {
				await time.sleep(ms, signal);
				if (this.dead) await new Promise<never>(() => undefined);
			},
		};
	}

	kill(): void {
		this.dead = true;
		this.die();
	}
}

async function play(plan: Play): Promise<void> {
	const time = new VirtualTime();
	const random = seededRandom(plan.seed);
	const table = new MemoryTable(time, plan.reusesIds);
	const service = new Service();
	let number = 0;

	const execute = async (
		{ atOnce, twins }: { atOnce: number; twins: boolean },
		process: Process,
		calm: boolean,
	): Promise<Map<string, Outcome[]>> => {
		const { clock } = process;
		const fate = (): TableFate => {
			const times = { beforeMs: random() * plan.tableMs, afterMs: random() * plan.tableMs };
			const broken = !calm && random() < plan.tableFails;
			return broken ? { ...times, fails: random() < 0.5 ? 'before' : 'after' } : times;
		};
		const writer = `writer${number++}`;
		const record = new GenerationRecord(
			{ workflowId: 'w', nodeId: 'n', executionId: writer, writer },
			{
				store: table.reachedBy(clock, fate),
				clock,
				random,
				signal: new AbortController().signal,
			},
		);
		const outcomes = new Map<string, Outcome[]>();
		const keys = Array.from({ length: plan.keys }, (_, index) => `key ${index}`)
			.flatMap((key) => (twins ? [key, key] : [key]))
			.sort(() => random() - 0.5);

		const carry = async (key: string): Promise<Outcome> => {
			const holder = {};
			for (;;) {
				const found = await record.find(key);
				if (found.state === 'open') return { error: 'uncertain' };
				if (found.state === 'made') {
					await clock.sleep(50);
					const id = found.row.generation_id;
					if (!service.made.find((one) => one.id === id)?.failed) return { id };
					record.ended(key, { id, status: 'failed' });
					continue;
				}
				process.sending.set(holder, key);
				if (!(await record.send(key, holder))) {
					process.sending.delete(holder);
					continue;
				}
				await clock.sleep(random() * 200);
				if (!calm && random() < plan.refused) {
					await record.withdraw(key, holder);
					process.sending.delete(holder);
					await clock.sleep(random() * 3000);
					continue;
				}
				const done = { key, id: `id ${service.made.length}`, failed: false };
				service.made.push(done);
				if (!calm && random() < plan.fails) time.at(time.now() + 5000, () => (done.failed = true));
				await clock.sleep(random() * 200);
				if (!calm && random() < plan.lost) {
					service.uncertain.add(key);
					await record.leave(key, holder);
					return { error: 'uncertain' };
				}
				void record
					.made(key, { id: done.id, status: 'pending' })
					.then(() => process.sending.delete(holder));
				await clock.sleep(random() * 20_000);
				if (done.failed) {
					record.ended(key, { id: done.id, status: 'failed' });
					return { error: 'failed' };
				}
				record.ended(key, { id: done.id, status: 'completed' });
				return { id: done.id };
			}
		};
		try {
			await record.begin(keys);
			const queue = [...keys];
			const work = async () => {
				for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
					const outcome = await carry(key).catch((error: unknown): Outcome => {
						if (!(error instanceof GenerationError)) throw error;
						return { error: error.code };
					});
					outcomes.set(key, [...(outcomes.get(key) ?? []), outcome]);
				}
			};
			await Promise.all(Array.from({ length: atOnce }, work));
		} catch (error) {
			if (!(error instanceof GenerationError)) throw error;
		}
		await record.close();
		return outcomes;
	};

	const all = plan.executions.map(async ({ startMs, diesAfterMs, ...rest }) => {
		await time.sleep(startMs);
		const process = new Process(time);
		if (diesAfterMs !== null) {
			time.at(time.now() + diesAfterMs, () => {
				process.sending.forEach((key) => service.uncertain.add(key));
				process.kill();
			});
		}
		await Promise.race([execute(rest, process, false), process.death]);
	});
	await time.run(Promise.all(all));

	// Long after, in calm weather: everything that was paid for is there, or is said to be open.
	await time.run(time.sleep(120_000));
	const last = await time.run(execute({ atOnce: 3, twins: false }, new Process(time), true));
	for (const [key, outcomes] of last) {
		const live = service.liveOf(key);
		if (live.length > 1) throw new Error(`${key} was paid ${live.length} times`);
		const [outcome] = outcomes;
		if ('id' in outcome) {
			if (live[0]?.id !== outcome.id) throw new Error(`${key} came out as ${outcome.id}`);
			continue;
		}
		if (outcome.error !== 'uncertain') throw new Error(`${key}: ${outcome.error}`);
		if (!service.uncertain.has(key) && plan.tableFails === 0) {
			throw new Error(`${key} is called uncertain, and is not`);
		}
	}
	if (last.size !== plan.keys) throw new Error('Not every key came out');
	const rows = table.rows.filter(({ status }) => status === 'claimed');
	if (rows.length > 0 && plan.tableFails === 0) {
		const keys = new Set(rows.map(({ key }) => key));
		if (keys.size < rows.length) throw new Error('Claims are left over');
	}
}

const chance = fc.constantFrom(0, 0, 0.1, 0.4);

const plays: fc.Arbitrary<Play> = fc.record({
	seed: fc.nat({ max: 1_000_000 }),
	keys: fc.integer({ min: 1, max: 5 }),
	reusesIds: fc.boolean(),
	tableFails: fc.constantFrom(0, 0, 0.05, 0.3),
	tableMs: fc.constantFrom(1, 50, 400),
	lost: chance,
	refused: chance,
	fails: chance,
	executions: fc.array(
		fc.record({
			startMs: fc.constantFrom(0, 0, 10, 100, 5_000, 70_000),
			diesAfterMs: fc.option(fc.integer({ min: 0, max: 5_000 })),
			atOnce: fc.integer({ min: 1, max: 4 }),
			twins: fc.boolean(),
		}),
		{ minLength: 1, maxLength: 5 },
	),
});

it('one generation a key, whoever is killed and whoever else writes', async () => {
	await fc.assert(fc.asyncProperty(plays, play), {
		numRuns: 150,
		includeErrorInReport: true,
	});
});
