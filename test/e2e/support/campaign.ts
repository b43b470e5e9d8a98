import { setTimeout as delay } from 'node:timers/promises';
import { AGAIN_AFTER_MS, COME_IN_MS } from '../../../bench/chaos/troubles';
import { newRow } from '../../../bench/chaos/verdict';
import type { Row } from '../../../bench/chaos/verdict';
import { itemsOf } from '../../../tools/n8n/executions';
import type { Execution } from '../../../tools/n8n/executions';
import type { Stage } from './stage';
import type { Webhook } from './webhook';

interface Batch {
	/** When it is to be called for next. */
	due: number;
	/** The execution that has it, and since when. */
	execution: { id: string; since: number } | null;
	calls: number;
	rows: Row[];
}

const LOOK_EVERY_MS = 500;
/** So many of those that are under way are looked at each time, the oldest first. */
const LOOKS = 15;
/** An execution that has not ended by then is no longer waited for. */
const PATIENCE_MS = 150_000;

/** Batches that come in one after the other, and again until each of their rows has come to an end, as by a schedule. */
export class Campaign {
	readonly batches: Batch[];
	/** Executions that were neither a success nor under way for long. */
	readonly endedBadly: Record<string, number> = {};

	/** @param prompts of each batch */
	constructor(
		private readonly stage: Stage,
		private readonly webhook: Webhook,
		prompts: string[][],
	) {
		const now = Date.now();
		this.batches = prompts.map((list, index) => ({
			due: now + (index * COME_IN_MS) / prompts.length,
			execution: null,
			calls: 0,
			rows: list.map(newRow),
		}));
	}

	get rows(): Row[] {
		return this.batches.flatMap(({ rows }) => rows);
	}

	/** Executions that were called for again. */
	get again(): number {
		return this.batches.reduce((sum, { calls }) => sum + Math.max(0, calls - 1), 0);
	}

	get open(): number {
		return this.rows.filter(({ end }) => end === null).length;
	}

	/** Until every row has come to its end, or the time is up. */
	async run(mostMs: number): Promise<void> {
		const end = Date.now() + mostMs;
		const isTime = () => Date.now() < end;
		while (isTime() && this.batches.some(isOpen)) {
			const due = this.batches.filter((each) => isOpen(each) && !each.execution);
			for (const batch of due) if (isTime() && batch.due <= Date.now()) await this.call(batch);
			for (const batch of this.oldest()) if (isTime()) await this.lookAt(batch);
			await delay(LOOK_EVERY_MS);
		}
	}

	private async call(batch: Batch): Promise<void> {
		const since = Date.now();
		if (batch.calls++ === 0) for (const row of batch.rows) row.arrived = since;
		try {
			const [id] = await this.webhook.call(batch.rows.map(({ prompt }) => prompt));
			batch.execution = { id, since };
		} catch {
			// n8n did not take it, for want of Redis or whatever else: once more, as the other system would.
			batch.due = Date.now() + AGAIN_AFTER_MS;
		}
	}

	/** Those whose executions are under way for longest. */
	private oldest(): Batch[] {
		const underWay = this.batches.filter(({ execution }) => execution !== null);
		return underWay.sort((one, other) => sinceOf(one) - sinceOf(other)).slice(0, LOOKS);
	}

	private async lookAt(batch: Batch): Promise<void> {
		if (!batch.execution) return;
		const { id, since } = batch.execution;
		const execution = await this.stage.executions.read(id).catch(() => null);
		const ended = execution && !['new', 'running', 'waiting'].includes(execution.status);
		if (!ended && Date.now() - since < PATIENCE_MS) return;
		batch.execution = null;
		batch.due = Date.now() + AGAIN_AFTER_MS;
		const status = ended ? execution.status : 'no end';
		if (status !== 'success') this.endedBadly[status] = (this.endedBadly[status] ?? 0) + 1;
		if (ended) settle(batch, execution);
	}
}

const isOpen = ({ rows }: Batch) => rows.some(({ end }) => end === null);
const sinceOf = ({ execution }: Batch) => execution?.since ?? 0;

/** Notes what an execution that has ended says of each row. */
function settle({ rows }: Batch, execution: Execution): void {
	const items = execution.data ? itemsOf(execution, 'Images') : [];
	items.forEach(({ json, pairedItem }, index) => {
		const paired = typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem : null;
		const row = rows[paired?.item ?? index];
		if (row.end !== null) return;
		if (json.error_code === undefined) row.end = { id: String(json.id) };
		else if (json.error_code === 'uncertain_charge') row.end = 'uncertain';
		if (row.end !== null) row.settled = Date.now();
	});
}
