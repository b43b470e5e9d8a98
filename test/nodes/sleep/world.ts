import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { loaded } from '../../../nodes/shared/record/package-age';
import { seededRandom, type Random } from '../../../sandbox/basics/random';
import { nodeNamed } from '../../../tools/own-nodes';
import { DataTables } from '../../engine/support/data-table';
import { networkError, noSlot, refusal } from '../../support/answers';
import { answerLost, FakeService } from '../../support/fake-service';
import { SimulatedN8n } from '../../support/simulated-n8n/n8n';
import { dataOf, type ExecutionRecord } from '../../support/simulated-n8n/records';
import { inVirtualTime } from '../../support/simulated-n8n/virtual-process';
import { VirtualTime } from '../../support/virtual-time';
import { ownType } from '../../support/workflow';
import type { SleepSchedule } from './schedule';
import { itemsOf, promptOf, workflowOf } from './step';

const nodeTypes = {
	[ownType('imageGeneration')]: nodeNamed('imageGeneration'),
	[ownType('waitForCompletion')]: nodeNamed('waitForCompletion'),
};

/** A death of n8n, and what it hit. */
interface Died {
	at: number;
	/** Depths of the executions that were awake. */
	awake: number[];
	/** True if the step slept. */
	stepSleeps: boolean;
	/**
	 * True if n8n had deleted a helper execution that succeeded, and not yet woken the one that waits for it. That one
	 * then sleeps for ever.
	 */
	forgets: boolean;
}

/** Longer than any step of a schedule takes. */
const LONGEST_MS = 8 * 3_600_000;

let worlds = 0;

/** A step that sleeps, in a simulated n8n, with the service and the user. */
export class SleepWorld {
	readonly time = new VirtualTime();
	readonly service = new FakeService(this.time);
	readonly tables = new DataTables(() => this.time.now());
	readonly n8n: SimulatedN8n;
	/** The execution of the step. */
	step!: ExecutionRecord;
	readonly died: Died[] = [];
	/** When the user stopped an execution, and whether one was awake then. */
	stopped: { at: number; whileAwake: boolean } | null = null;
	/** Prompts whose requests may have left a row without an id behind. */
	readonly uncertain = new Set<string>();
	/** False before the step and after it. */
	private isFaulty = false;
	private readonly random: Random;
	private readonly leave: () => void;
	private readonly beganAt: number;
	/** Executions of other steps keep the module's memory of a table. */
	private readonly workflowId = `workflow-${++worlds}`;

	constructor(readonly schedule: SleepSchedule) {
		const { seed, mode, databaseMs } = schedule;
		const { time, service, tables } = this;
		this.random = seededRandom(seed);
		this.beganAt = time.now();
		this.leave = inVirtualTime(() => this.n8n, this.random);
		this.n8n = new SimulatedN8n({
			time,
			random: this.random,
			service,
			tables,
			types: nodeTypes,
			mode,
			databaseMs,
			aroundTable: async (_, when) => await this.useTable(when),
			loaded: ({ bornAt }) => (loaded.at = bornAt),
		});
		this.setService();
	}

	/** Restores the clocks. */
	end(): void {
		this.leave();
	}

	promptOf(index: number): string {
		return promptOf(this.schedule, index);
	}

	/** The ids of the generations for an item that were charged, and not refunded. */
	chargedFor(index: number): string[] {
		return this.service.made
			.filter(({ prompt, failure }) => prompt === this.promptOf(index) && failure === undefined)
			.map(({ id }) => id);
	}

	rowsOf(index: number): IDataObject[] {
		return this.tables.rowsOf('media_generations').filter(({ key }) => key === `k${index}`);
	}

	/** Starts the step, and everything that happens to it. Returns its execution. */
	start(): ExecutionRecord {
		const { schedule, time, n8n } = this;
		const { stop, deaths } = schedule;
		this.isFaulty = true;
		const running = n8n.start(workflowOf(schedule, this.workflowId), this.items());
		const { record } = running;
		this.step = record;
		running.run().catch(() => undefined);
		this.planDeaths(record, [...deaths]);
		this.planOutage();
		if (stop) time.at(this.beganAt + stop.afterMs, () => this.stop(record));
		return record;
	}

	/** Runs the same items again, in a step that polls, when nothing fails any more. */
	async runAgain(): Promise<ExecutionRecord> {
		this.isFaulty = false;
		this.service.replies = [];
		this.n8n.onMoment = () => undefined;
		const workflow = workflowOf(this.schedule, this.workflowId, false);
		while (this.n8n.life.isDead) await this.time.sleep(10_000);
		const running = this.n8n.start(workflow, this.items());
		running.run().catch(() => undefined);
		await this.ended(running.record);
		return running.record;
	}

	/** Resolves when an execution has ended for good, with `false` if it sleeps for ever. */
	async ended(record: ExecutionRecord): Promise<boolean> {
		const { time, n8n } = this;
		const until = time.now() + LONGEST_MS;
		for (let calm = 0; calm < 6; ) {
			await time.sleep(60_000);
			if (time.now() > until) break;
			const isActive = record.status === 'waiting' || n8n.awake.has(record.id) || n8n.life.isDead;
			calm = isActive ? 0 : calm + 1;
		}
		this.isFaulty = false;
		return record.status !== 'waiting';
	}

	/** The output items of an execution, or the text of its error. */
	resultOf(record: ExecutionRecord): { items: INodeExecutionData[] | null; text: string } {
		const { resultData } = dataOf(record);
		const ran = resultData.runData.Step?.at(-1);
		const items = record.status === 'success' ? (ran?.data.main?.[0] ?? []) : null;
		return { items, text: JSON.stringify(items ?? resultData.error ?? ran ?? '') };
	}

	private setService(): void {
		const { service, random, schedule } = this;
		const { limit, latencyMs, seconds, items } = schedule;
		service.slots = limit;
		service.latencyMs = latencyMs;
		service.durationMs = () => 1000 * seconds * (0.8 + 0.4 * random());
		service.failure = (prompt) => {
			const isFirst = !service.made.some((one) => one.prompt === prompt);
			const fails = prompt.startsWith('fails') && (isFirst || !prompt.startsWith('fails once'));
			return fails ? 'out of paint' : undefined;
		};
		service.end = (prompt) =>
			prompt.startsWith('ends otherwise') ? { status: 'Timed Out' } : undefined;
		items.forEach((kind, index) => {
			if (kind !== 'answer lost' || schedule.node === 'wait') return;
			service.order(this.promptOf(index), answerLost);
			this.uncertain.add(this.promptOf(index));
		});
	}

	private items(): INodeExecutionData[] {
		return itemsOf(this.schedule, this.service.made);
	}

	private planDeaths(step: ExecutionRecord, deaths: SleepSchedule['deaths']): void {
		const { time, n8n } = this;
		const [next, ...others] = deaths;
		n8n.onMoment = () => undefined;
		if (!next) return;
		const kill = () => {
			if (!this.isFaulty || n8n.life.isDead) return;
			this.noteDeath(step);
			n8n.kill(next.restart);
			this.planDeaths(step, others);
		};
		let left = next.nth;
		if (next.depth === null) time.at(time.now() + next.nth, kill);
		else n8n.onMoment = ({ depth }) => depth === next.depth && left-- === 0 && kill();
	}

	private noteDeath(step: ExecutionRecord): void {
		const { n8n, time, service } = this;
		const awake = [...n8n.awake.values()].map(({ record }) => record.depth);
		const forgets = [...n8n.unread].some((id) => n8n.find(id) === undefined);
		this.died.push({ at: time.now(), awake, stepSleeps: step.status === 'waiting', forgets });
		if (awake.length === 0) return;
		// A request may have left, and its id may not be in the table.
		const written = new Set(
			this.tables.rowsOf('media_generations').map((row) => row.generation_id),
		);
		const rows = this.tables.rowsOf('media_generations');
		this.schedule.items.forEach((_, index) => {
			const isOpen = rows.some(({ key, generation_id: id }) => key === `k${index}` && !id);
			const prompt = this.promptOf(index);
			const isMissing = service.made.some((one) => one.prompt === prompt && !written.has(one.id));
			if (isOpen || isMissing) this.uncertain.add(prompt);
		});
	}

	private planOutage(): void {
		const { service, time, schedule } = this;
		if (!schedule.outage) return;
		const { fromMs, lastsMs, how } = schedule.outage;
		const replies = {
			down: networkError('ECONNREFUSED', 'connect'),
			unavailable: refusal(503, 'service_unavailable'),
			busy: noSlot(schedule.limit),
		};
		time.at(this.beganAt + fromMs, () => (service.replies = this.isFaulty ? [replies[how]] : []));
		time.at(this.beganAt + fromMs + lastsMs, () => (service.replies = []));
	}

	private async useTable(when: 'before' | 'after'): Promise<void> {
		const { schedule, n8n, time, random } = this;
		const { tables } = schedule;
		const passedMs = time.now() - this.beganAt;
		const isNow = tables && passedMs >= tables.fromMs && passedMs < tables.fromMs + tables.lastsMs;
		await n8n.life.sleep(1 + random() * schedule.databaseMs);
		if (!isNow || !this.isFaulty) return;
		for (const [index] of schedule.items.entries()) this.uncertain.add(this.promptOf(index));
		if (tables.how === 'slow') await n8n.life.sleep(random() * 90_000);
		else if (tables.how === when) throw new Error('SQLITE_BUSY: database is locked');
	}

	private stop(step: ExecutionRecord): void {
		const { n8n, time, schedule } = this;
		if (!this.isFaulty) return;
		const { depth = 0 } = schedule.stop ?? {};
		const target = [...n8n.records.values()]
			.filter((record) => record.depth === depth && record.data !== '' && !record.isDeleted)
			.at(-1);
		if (!target || !['running', 'waiting'].includes(target.status)) return;
		if (depth > 0 && step.status !== 'waiting') return;
		this.stopped = { at: time.now(), whileAwake: n8n.awake.size > 0 };
		n8n.stop(target);
	}
}
