import { setTimeout as delay } from 'node:timers/promises';
import { errorOf, itemsOf } from '../../../tools/n8n/executions';
import type { Execution } from '../../../tools/n8n/executions';
import type { Stage } from './stage';
import type { Webhook } from './webhook';

/** The damage that killed processes have done to suspended batches. */
export interface SleepToll {
	/** Processes that were killed. */
	kills: number;
	/** Suspended batches that were started. */
	batches: number;
	/** Executions that were killed before their first sleep. They end, and their items are run again. */
	early: number;
	/** Batches that had fallen asleep when a process was killed, summed over all kills. */
	underWay: number;
	/** Of these running batches, those that continued on their own. */
	continued: number;
	/** Those that ended with an error. */
	failed: number;
	/** Of those, the batches whose items were run again, and whose generations that run reused. */
	reused: number;
	/** Items whose error says that the charge is unknown. */
	uncertain: number;
	/** Items with another error. They were not charged. */
	refused: number;
	/** Items that were charged more than once. */
	twice: number;
	/** Items that were charged and are neither returned nor uncertain. */
	lost: number;
}

interface Batch {
	webhook: Webhook;
	prompts: string[];
	/** True if it had fallen asleep at the last kill. */
	slept: boolean;
	/** The current execution of the batch; `null` after it failed, until the items are run again. */
	execution: string | null;
	failed: boolean;
}

const ITEMS = 6;
/** In seconds. A batch of six items with a limit of three is suspended and resumed several times. */
const SHORTEST = 60;
const LONGEST = 120;
const BATCHES_AT_ONCE = 10;
/** Maximum milliseconds between two calls. */
const CALLS_APART_MS = 10_000;
/** Maximum milliseconds between the last call and the kill. */
const BEFORE_KILL_MS = 90_000;
const ENDS_WITHIN_MS = 900_000;

/** Starts suspended batches and waits one after the other while processes of n8n are killed at random moments. */
export class SleepKills {
	/** Why executions failed. */
	readonly errors: string[] = [];
	private readonly toll = {
		kills: 0,
		batches: 0,
		early: 0,
		underWay: 0,
		failed: 0,
		reused: 0,
		uncertain: 0,
		refused: 0,
		twice: 0,
		lost: 0,
	};
	private batches: Batch[] = [];
	private lastDeath = 0;

	/**
	 * @param webhooks start an execution whose step "Images" sleeps, in turn
	 * @param random chooses moments and durations
	 */
	constructor(
		private readonly stage: Stage,
		private readonly webhooks: Webhook[],
		private readonly random: () => number,
	) {}

	/** @param kill kills a process of n8n; resolves when its replacement works, with the time of the kill */
	async kill(kill: () => Promise<number>): Promise<void> {
		await this.collect();
		while (this.batches.length < BATCHES_AT_ONCE) this.batches.push(this.newBatch());
		await this.call();
		await delay(this.random() * BEFORE_KILL_MS);
		await this.collect();
		this.toll.kills++;
		for (const batch of this.batches) {
			const { execution } = batch;
			batch.slept =
				execution !== null && (await this.stage.executions.read(execution)).status === 'waiting';
			if (batch.slept) this.toll.underWay++;
		}
		this.lastDeath = await kill();
		for (const webhook of this.webhooks) await webhook.listens();
	}

	/** Waits until all batches have ended. Runs the items of failed executions again. */
	async end(): Promise<SleepToll> {
		const deadline = Date.now() + ENDS_WITHIN_MS;
		while (this.batches.length > 0) {
			await this.call();
			await delay(2000);
			await this.collect();
			if (Date.now() > deadline) throw new Error(`Asleep forever: ${this.open().join(', ')}`);
		}
		return this.tolls;
	}

	/** Returns the damage so far. */
	get tolls(): SleepToll {
		const open = this.batches.filter(({ execution, slept }) => execution && slept).length;
		const continued = this.toll.underWay - this.toll.failed - open;
		return { ...this.toll, continued };
	}

	private newBatch(): Batch {
		const number = ++this.toll.batches;
		const prompts = Array.from({ length: ITEMS }, (_, item) => {
			const seconds = Math.round(SHORTEST + this.random() * (LONGEST - SHORTEST));
			return `[seconds: ${seconds}] ${number}.${item}`;
		});
		const webhook = this.webhooks[number % this.webhooks.length];
		return { webhook, prompts, execution: null, slept: false, failed: false };
	}

	private open(): string[] {
		return this.batches.flatMap(({ execution }) => execution ?? []);
	}

	private async call(): Promise<void> {
		for (const batch of this.batches.filter(({ execution }) => !execution)) {
			batch.execution = await batch.webhook.call(batch.prompts);
			await delay(this.random() * CALLS_APART_MS);
		}
	}

	/** Evaluates the executions that have ended. */
	private async collect(): Promise<void> {
		const going: Batch[] = [];
		for (const batch of this.batches) {
			const execution = batch.execution && (await this.stage.executions.read(batch.execution));
			const isOpen = !execution || ['new', 'running', 'waiting'].includes(execution.status);
			if (isOpen) going.push(batch);
			else if (returnsItems(execution)) this.judge(batch, execution);
			else going.push(this.failed(batch, execution));
		}
		this.batches = going;
	}

	private failed({ webhook, prompts, slept }: Batch, execution: Execution): Batch {
		const { id, status, stoppedAt } = execution;
		const seconds = Math.round((Date.parse(stoppedAt ?? '') - this.lastDeath) / 1000);
		const items = itemsOf(execution, 'Images').map(({ json }) => json);
		const error = errorOf(execution) || JSON.stringify(items);
		const when = slept ? 'asleep' : 'before its first sleep';
		this.errors.push(`${id}, ${when}: ${status} ${seconds} s after the kill: ${error}`);
		if (slept) this.toll.failed++;
		else this.toll.early++;
		return { webhook, prompts, execution: null, slept: false, failed: true };
	}

	private judge({ prompts, failed }: Batch, execution: Execution): void {
		const items = itemsOf(execution, 'Images').map(({ json }) => json);
		prompts.forEach((prompt, index) => {
			const { id, error_code: code } = items[index] ?? {};
			const { generations } = this.stage.sandbox.books;
			const paid = generations.filter((one) => one.prompt === prompt && one.refunded === 0);
			if (paid.length > 1) this.toll.twice++;
			if (paid.some((one) => one.id === id)) return;
			if (code === 'uncertain_charge') this.toll.uncertain++;
			else if (paid.length > 0) this.toll.lost++;
			else this.refuse(items[index]);
		});
		if (failed) this.toll.reused++;
	}

	private refuse(json: unknown): void {
		this.toll.refused++;
		this.errors.push(JSON.stringify(json));
	}
}

/** Returns whether the items were returned: with On Error = Continue, a batch that n8n ended has one error item. */
function returnsItems(execution: Execution): boolean {
	return execution.status === 'success' && itemsOf(execution, 'Images').length === ITEMS;
}
