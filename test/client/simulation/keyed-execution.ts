import type { CreateJob } from '../../../client/jobs/job';
import { Journal, type StoredOrders } from '../../../client/orders/journal';
import { SlotPool } from '../../../client/orders/slot-pool';
import { TableJournal } from '../../../client/orders/table-journal';
import { Pipeline, type PipelineResult } from '../../../client/step/pipeline';
import { errorAnswer } from '../../../sandbox/basics/errors';
import { GenerationError } from '../../../client/api/errors';
import { ServiceClient } from '../../../client/api/client';
import { requesting } from '../../support/step';
import { breakages } from './faults';
import { bodyOf, type KeyedWorld } from './keyed-world';
import { markIn } from './marked-prompt';
import type { ServiceRequest, ServiceResponse } from '../../../client/ports';
import { KeyedProcess } from './keyed-process';
import { tableOf } from './keyed-table';
import type { Planned } from './keyed-schedule';
import { sabotaged, type StepPorts } from './sabotage';

export type Ran = PipelineResult<string>;

/** The length of a pause after which others may take the process for dead. */
const LONG_PAUSE_MS = 40_000;
/** Timeout of each item. */
const TIMEOUT_MS = 600_000;
/** An execution must be awake for this long to notice that the writer of a row is dead. */
const NOTICES_MS = 90_000;
/** Limits that only an endless loop exceeds: table calls of an execution per item and try, and its duration. */
const MOST_CALLS = 400;
const LONGEST_MS = 2_000_000;

/** One execution in its own process. After the process is killed, nothing that it waits for arrives. */
export class KeyedExecution {
	private readonly process: KeyedProcess;
	private readonly stop = new AbortController();
	private readonly timeout = new AbortController();
	private readonly writer: string;
	private readonly number: number;
	private tries = 0;
	private calls = 0;
	/** Table calls that said that a request is sent. */
	private announced = 0;

	constructor(
		private readonly world: KeyedWorld,
		readonly planned: Planned,
	) {
		this.number = ++world.executions;
		this.writer = `writer-${this.number}`;
		this.process = new KeyedProcess(world.time, world.machine, planned.clockOffMs);
	}

	/** Returns the key of an item, or a number that only this execution and run have for an item without one. */
	keyOf(item: number, runIndex = 0): number {
		return this.world.schedule.keys[item] ?? 100 * (2 * this.number + runIndex) + item;
	}

	/** @returns the result of the last try of the first call; `null` if it was killed, or could not start */
	async run(): Promise<Ran | null> {
		const { world, planned, process } = this;
		const { diesAfterMs, stopsAfterMs, timesOutAfterMs, pause } = planned;
		const startedAt = world.time.now();
		world.tell(`${this.writer} starts`);
		if (diesAfterMs !== null) world.time.at(startedAt + diesAfterMs, () => this.kill());
		if (pause && pause.afterMs !== null) {
			world.time.at(startedAt + pause.afterMs, () => this.pause(pause.ms));
		}
		process.after(stopsAfterMs, () => this.stop.abort());
		process.after(timesOutAfterMs, () => this.timeOut());
		let ended = false;
		world.time.at(startedAt + LONGEST_MS, () => {
			if (!ended) world.blame(`${this.writer} does not end`);
		});
		const ran = await Promise.race([this.runCalls(), process.death]);
		ended = true;
		return ran;
	}

	private kill(): void {
		const { world } = this;
		world.tell(`${this.writer} is killed`);
		world.deaths++;
		this.process.kill();
		for (const key of world.keysSentBy(`${this.writer}.`)) world.unsure.add(key);
	}

	private pause(ms: number): void {
		const { world } = this;
		world.tell(`${this.writer} is paused for ${ms} ms`);
		world.pauses++;
		this.process.pause(ms);
		if (ms < LONG_PAUSE_MS) return;
		for (const key of world.keysSentBy(`${this.writer}.`)) world.doubtful.add(key);
	}

	private timeOut(): void {
		this.world.tell(`the workflow of ${this.writer} times out`);
		this.world.timeouts++;
		this.stop.abort();
		this.timeout.abort();
	}

	/** Runs the step, or the calls of a tool on the same orders. */
	private async runCalls(): Promise<Ran | null> {
		const { second } = this.world.schedule;
		const entries: StoredOrders = {};
		const first = this.runTries(entries, 0);
		if (!second) return await first;
		this.world.secondCalls++;
		const later = this.process.clock
			.sleep(second.afterMs)
			.then(async () => await this.runTries(entries, second.runIndex));
		return (await Promise.all([first, later]))[0];
	}

	private async runTries(entries: StoredOrders, runIndex: number): Promise<Ran | null> {
		const { world } = this;
		let ran: Ran | null = null;
		for (let tried = 0; tried < this.planned.tries && !this.stop.signal.aborted; tried++) {
			ran = await this.runNode(entries, runIndex).catch((error: unknown) => {
				if (!(error instanceof GenerationError && error.code === 'record_unavailable')) throw error;
				if (world.keys.length > 0 && this.mayLackTheTable) return null;
				throw world.failure(`No record, although the table is well: ${error.description}`);
			});
		}
		return ran;
	}

	private get mayLackTheTable(): boolean {
		const { schedule, calm } = this.world;
		return this.stop.signal.aborted || (schedule.tableFails > 0 && !calm);
	}

	/** True if its process was frozen for so long that an item may time out before it notices that a writer is dead. */
	private get sleptThroughItsTimeout(): boolean {
		const { pause } = this.planned;
		const { sleep } = this.world.schedule;
		return (pause?.ms ?? 0) + (sleep?.ms ?? 0) > TIMEOUT_MS - NOTICES_MS;
	}

	private sent(): void {
		const { pause } = this.planned;
		if (pause?.afterMs !== null) return;
		if (++this.announced !== (pause.call ?? 1)) return;
		if (pause.laterMs) this.process.after(pause.laterMs, () => this.pause(pause.ms));
		else this.pause(pause.ms);
	}

	private called(): void {
		const { world, planned } = this;
		const most = ++this.calls / world.schedule.keys.length / planned.tries;
		if (most > MOST_CALLS) world.blame(`${this.writer} asks the table again and again`);
	}

	private async runNode(entries: StoredOrders, runIndex: number): Promise<Ran> {
		const { world } = this;
		const step = this.portsOf(entries, runIndex);
		const { clock, signal, send, slots, probe } = step;
		const ports = { clock, random: world.random, signal };
		// Each try writes under its own name.
		const writer = `${this.writer}.${++this.tries}`;
		const scope = { workflowId: 'w', nodeId: 'n', executionId: this.writer, writer };
		const inner = new Journal(step.stored, runIndex, this.writer);
		const journal = new TableJournal(inner, scope, { ...ports, table: step.table });
		try {
			await journal.begin(world.keys.map(String));
			const result = await new Pipeline<string>(
				step.jobs,
				{
					...ports,
					service: new ServiceClient({ ...ports, send }),
					journal,
					probe,
					slots,
					cancel: signal,
					finish: async ({ itemIndex }, generation) => {
						await world.download(itemIndex, clock);
						return { generation, output: generation.item.url };
					},
				},
				step.settings,
			).run();
			const ran = { ...result, outcomes: step.output(result.outcomes) };
			this.judge(ran, runIndex);
			return ran;
		} finally {
			await journal.close();
			this.judgeEnd(writer);
		}
	}

	private portsOf(stored: StoredOrders, runIndex: number): StepPorts {
		const { world, process, planned } = this;
		const { random, schedule } = world;
		const table = tableOf(world, process, {
			cancel: this.stop.signal,
			timeout: this.timeout.signal,
			called: () => this.called(),
			sent: () => this.sent(),
		});
		const ports: StepPorts = {
			jobs: schedule.keys.map((_, itemIndex) => this.jobOf(itemIndex, runIndex)),
			settings: {
				maxConcurrent: planned.maxConcurrent,
				pollIntervalMs: 3000,
				stopOnError: planned.stopOnError,
			},
			clock: process.clock,
			signal: this.stop.signal,
			send: this.send,
			probe: async () => await Promise.reject(new Error('not asked')),
			slots: new SlotPool({ clock: process.clock, random }),
			stored,
			table,
			output: (outcomes) => outcomes,
		};
		return sabotaged(ports, world.sabotage);
	}

	/** Checks that no row of a step that has ended looks as if its request were in flight. */
	private judgeEnd(writer: string): void {
		const { world, stop } = this;
		if (stop.signal.aborted) return;
		const left = world
			.keysSentBy(`${writer}/`)
			.find((key) => !world.isUncertain(key) && !world.copied.has(key));
		if (left !== undefined) world.blame(`${writer} leaves key ${left} as sent`);
	}

	/** Checks what each item returns, and that no item is uncertain if everything is known. Errors must be expected ones. */
	private judge({ outcomes }: Ran, runIndex: number): void {
		const { world } = this;
		outcomes.forEach((outcome, item) => {
			const key = this.keyOf(item, runIndex);
			const hasKey = world.keys.includes(key);
			const paid = world.live(key);
			const blame = (what: string) =>
				world.blame(`${this.writer}, item ${item}, key ${key}: ${what}`);
			const { generation } = outcome.kind === 'error' ? outcome.error : outcome;
			if (outcome.kind === 'done' && !paid.includes(String(generation?.id))) {
				blame('what it returns is not paid for');
			}
			// Others may create the generation of a key at any time, and so may a second call.
			const isOwn = !hasKey && !world.schedule.second && !world.isUncertain(key);
			if (isOwn && paid.length > 0 && !generation) blame('what it paid for is lost');
			if (outcome.kind !== 'error') return;
			const { code, message, description } = outcome.error;
			const error = `${code}: ${message}: ${description}`;
			if (code === 'unexpected_error') blame(error);
			if (code === 'uncertain_charge' && !world.isUncertain(key)) blame(error);
			if (code === 'generation_not_found' && !world.misled.has(key)) blame(error);
			const excused = this.mayLackTheTable || this.sleptThroughItsTimeout;
			if (code === 'record_unavailable' && !(hasKey && excused)) blame(error);
		});
	}

	private jobOf(itemIndex: number, runIndex: number): CreateJob {
		const key = this.world.schedule.keys[itemIndex];
		const body = bodyOf(this.keyOf(itemIndex, runIndex));
		return {
			kind: 'create',
			itemIndex,
			...requesting({ type: 'image', body }),
			...(key !== null && { idempotencyKey: String(key) }),
			wait: true,
			readiness: 'status',
			timeoutMs: TIMEOUT_MS,
			onTimeout: 'error',
			onUncertainCharge: this.planned.onUncertainCharge,
		};
	}

	private readonly send = async (request: ServiceRequest): Promise<ServiceResponse> => {
		const { world, process } = this;
		const { lost, refused } = world.schedule;
		if (this.stop.signal.aborted) world.blame('Something is sent after the stop');
		// A sent request arrives, even if the process dies.
		await world.time.sleep(world.random() * 100);
		if (request.method === 'GET') {
			const answer = world.handle(request);
			await process.running();
			return answer;
		}
		const key = markIn(request.body);
		world.judgeName(key, request.headers);
		if (world.chance(refused)) {
			await process.running();
			return errorAnswer('service_unavailable');
		}
		const response = world.handle(request);
		const { id } = response.body as { id?: string };
		if (id !== undefined) {
			world.judgeCharge(key, id, this.planned);
		}
		await process.clock.sleep(world.random() * (world.calm ? 100 : world.schedule.answerMs));
		if (!world.chance(lost)) return response;
		world.lost++;
		world.unsure.add(key);
		throw breakages.reset();
	};
}
