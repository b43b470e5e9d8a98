import { logNormal } from '../../sandbox/generations/timing';
import { seededRandom } from '../../sandbox/basics/random';
import { GenerationService } from '../../sandbox/service';
import {
	AGAIN_AFTER_MS,
	ARRIVAL_MS,
	ITEMS,
	KILL_EVERY_MS,
	LEAVE_AFTER_MS,
	LEAVE_FOR_MS,
	LIMIT,
	steadyTroubles,
} from '../../test/support/chaos/troubles';
import { judge, newRow, type Row } from '../../test/support/chaos/verdict';
import { MemoryTable } from '../../test/support/memory-table';
import { VirtualTime } from '../../test/support/virtual-time';
import type { PipelineResult } from '../../client/pipeline';
import { Process, type Surroundings } from './process';
import type { Chaos } from './table';

const WORKERS = 3;
/** Median seconds of a generation, with a sigma of 0.3. With longer ones, the queue would only grow at this load. */
const SECONDS = 3.5;
/** Number of executions that a worker runs at the same time, as in n8n. */
const LANES = 10;
/** Time until a killed worker has restarted, and time until its unfinished executions are detected. */
const START_MS = 8_000;
const NOTICED_AFTER_MS = 12_000;
const IDLE_MS = 500;

/** Rows that arrive together. Rows of other batches are irrelevant to them, so each batch has a separate table. */
interface Batch {
	rows: Row[];
	table: MemoryTable;
}

/** Simulates many executions on workers that are killed, in virtual time. */
class Simulation implements Surroundings {
	readonly time = new VirtualTime();
	readonly random: () => number;
	readonly service: GenerationService;
	readonly troubles: Record<string, number> = {};
	gone = false;
	readonly batches: Batch[];
	kills = 0;
	again = 0;
	private readonly queue: Batch[] = [];
	private readonly workers: Array<{ process: Process; has: Set<Batch> }> = [];
	private starts = 0;

	constructor(executions: number, seed: number) {
		this.random = seededRandom(seed);
		const generationSeconds = logNormal(SECONDS, 0.3);
		this.service = new GenerationService({ clock: this.time, seed, generationSeconds });
		this.service.accounts.account('main').concurrency = LIMIT;
		this.service.accounts.setCredits('main', 1e9);
		this.service.faults.order(...steadyTroubles);
		this.batches = Array.from({ length: executions }, (_, batch) => ({
			rows: Array.from({ length: ITEMS }, (__, item) => newRow(`Batch ${batch + 1}, ${item + 1}`)),
			table: new MemoryTable(this.time),
		}));
	}

	/** Runs until every row has a final result. */
	async run(): Promise<void> {
		const start = this.time.now();
		this.batches.forEach((batch, index) => {
			this.time.at(start + index * ARRIVAL_MS, () => {
				for (const row of batch.rows) row.arrived = this.time.now();
				this.queue.push(batch);
			});
		});
		for (let number = 0; number < WORKERS; number++) this.startWorker(number);
		void this.kill();
		this.time.at(start + LEAVE_AFTER_MS, () => (this.gone = true));
		this.time.at(start + LEAVE_AFTER_MS + LEAVE_FOR_MS, () => (this.gone = false));
		while (this.batches.some(isOpen)) await this.time.sleep(1000);
	}

	private startWorker(number: number): void {
		const process = new Process(`process ${++this.starts}`, this);
		const worker = { process, has: new Set<Batch>() };
		this.workers[number] = worker;
		for (let lane = 0; lane < LANES; lane++) void this.work(worker);
	}

	/** Runs one execution after the other as long as the process is alive. */
	private async work({ process, has }: (typeof this.workers)[number]): Promise<void> {
		while (!process.dead) {
			const batch = this.queue.shift();
			if (!batch) {
				await process.clock.sleep(IDLE_MS);
				continue;
			}
			has.add(batch);
			const prompts = batch.rows.map(({ prompt }) => prompt);
			const result = await process.execute(prompts, batch.table);
			has.delete(batch);
			this.settle(batch, result);
			if (isOpen(batch)) this.callAgain(batch, AGAIN_AFTER_MS);
		}
	}

	private async kill(): Promise<void> {
		for (;;) {
			await this.time.sleep(KILL_EVERY_MS);
			const number = this.kills++ % WORKERS;
			const { process, has } = this.workers[number];
			process.dead = true;
			for (const batch of has) this.callAgain(batch, NOTICED_AFTER_MS + AGAIN_AFTER_MS);
			this.time.at(this.time.now() + START_MS, () => this.startWorker(number));
		}
	}

	private callAgain(batch: Batch, afterMs: number): void {
		this.again++;
		this.time.at(this.time.now() + afterMs, () => this.queue.push(batch));
	}

	private settle({ rows }: Batch, { outcomes }: PipelineResult<string>): void {
		outcomes.forEach((outcome, index) => {
			const row = rows[index];
			if (row.end !== null) return;
			if (outcome.kind === 'done') row.end = { id: String(outcome.generation.id) };
			else if (outcome.kind === 'error' && outcome.error.code === 'uncertain_charge') {
				row.end = 'uncertain';
			}
			if (row.end !== null) row.settled = this.time.now();
		});
	}
}

/** Runs this many executions until they end, and compares their results with the books. */
export async function runSimulatedChaos(executions: number, seed = 1): Promise<Chaos> {
	const simulation = new Simulation(executions, seed);
	const { time, service, batches, troubles } = simulation;
	const start = time.now();
	await time.run(simulation.run());
	return {
		executions,
		seconds: (time.now() - start) / 1000,
		again: simulation.again,
		kills: simulation.kills,
		troubles,
		...judge(
			batches.flatMap(({ rows }) => rows),
			service.books,
			LIMIT,
			time.now(),
		),
	};
}

const isOpen = ({ rows }: Batch) => rows.some(({ end }) => end === null);
