import { toResult } from '../../../client/async';
import type { Host } from './host';
import type { Life } from './life';
import {
	dataOf,
	isFinal,
	lastRun,
	WAIT_FOR_CHILD,
	type ExecutionData,
	type ExecutionRecord,
} from './records';
import { Running } from './running';

const TICK_MS = 60_000;
/** At each tick, n8n sets timers for the executions that are due within this time. */
const ARMED_MS = 70_000;

/** n8n's wait tracker: wakes the executions that are due, and those whose helper workflow has ended. */
export class WaitTracker {
	private readonly armed = new Map<string, object>();
	private readonly started = new Set<string>();
	/** Executions that are due while there is no worker. */
	private readonly queue: string[] = [];

	/** @param life the process in which it runs */
	constructor(
		private readonly n8n: Host,
		private readonly life: Life,
	) {}

	/** Looks for executions to wake, now and once a minute. */
	start(): void {
		void this.run();
	}

	/** True if it has woken this execution. */
	hasStarted(id: string): boolean {
		return this.started.has(id);
	}

	/** Wakes no execution of this id that is due later. */
	forget(id: string): void {
		this.armed.delete(id);
	}

	/** A worker has started. */
	onWorker(): void {
		for (const id of this.queue.splice(0)) void this.wake(id);
	}

	private async run(): Promise<void> {
		for (;;) {
			this.arm();
			void this.sweep();
			await this.life.sleep(TICK_MS);
		}
	}

	private arm(): void {
		const now = this.n8n.time.now();
		for (const { id, status, waitTill, isDeleted } of this.n8n.records.values()) {
			if (status !== 'waiting' || isDeleted || waitTill === null) continue;
			if (waitTill > now + ARMED_MS || this.armed.has(id)) continue;
			const timer = {};
			this.armed.set(id, timer);
			void this.life.sleep(Math.max(0, waitTill - now)).then(async () => {
				if (this.armed.get(id) !== timer) return;
				this.armed.delete(id);
				await this.wake(id);
			});
		}
	}

	/**
	 * Wakes an execution. When it has ended, the execution that waits for it goes on.
	 *
	 * @param child the execution that it has waited for
	 */
	private async wake(id: string, child = ''): Promise<void> {
		const { n8n, life } = this;
		await life.sleep(n8n.databaseMs);
		const record = n8n.find(id);
		if (record?.status !== 'waiting') return;
		const data = dataOf(record);
		if (n8n.life.isDead) {
			this.queue.push(id);
			return;
		}
		await life.sleep(n8n.databaseMs);
		if (record.status !== ('waiting' as string)) return;
		record.status = 'running';
		record.waitTill = null;
		n8n.unread.delete(child);
		this.started.add(id);
		const running = new Running(n8n, n8n.life, record, data);
		await toResult(async () => await running.life.survive(running.run()));
		const { parentExecution: parent } = data;
		if (!parent?.shouldResume || running.data.waitTill) return;
		await running.moment();
		if (await this.handOver(parent.executionId, id, data)) await this.wake(parent.executionId, id);
		n8n.unread.delete(id);
	}

	/** Wakes the executions whose helper workflow has ended or died. */
	private async sweep(): Promise<void> {
		const { n8n, life } = this;
		const parked = [...n8n.records.values()].filter(
			({ status, waitTill, isDeleted }) =>
				status === 'waiting' && waitTill === WAIT_FOR_CHILD && !isDeleted,
		);
		for (const parent of parked) {
			await life.sleep(n8n.databaseMs);
			if (parent.status !== 'waiting') continue;
			const child = parent.waitsFor.flatMap((id) => n8n.find(id) ?? []).find(isFinal);
			if (!child) continue;
			await life.sleep(n8n.databaseMs);
			if (await this.handOver(parent.id, child.id, dataOf(child)))
				void this.wake(parent.id, child.id);
		}
	}

	/** Gives an execution the result of its helper workflow. Returns whether it was waiting for it. */
	private async handOver(id: string, childId: string, child: ExecutionData): Promise<boolean> {
		const { n8n, life } = this;
		const { error } = child.resultData;
		const output = lastRun(child)?.data;
		if (!error && !output) return false;
		await life.sleep(n8n.databaseMs);
		const parent: ExecutionRecord | undefined = n8n.find(id);
		if (parent?.status !== 'waiting') return false;
		const data = dataOf(parent);
		const [task] = data.executionData.nodeExecutionStack;
		if (!task) return false;
		const children = childrenOf(data);
		if (children.length > 0 && !children.includes(childId)) return false;
		if (error) task.metadata = { ...task.metadata, resumeError: error };
		else task.data = output as typeof task.data;
		const changed = JSON.stringify(data);
		await life.sleep(n8n.databaseMs);
		parent.data = changed;
		return true;
	}
}

function childrenOf({ executionData }: ExecutionData): string[] {
	return executionData.nodeExecutionStack[0]?.metadata?.waitingChildExecutionIds ?? [];
}
