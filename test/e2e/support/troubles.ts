import { setTimeout as delay } from 'node:timers/promises';
import {
	KILL_EVERY_MS,
	LEAVE_AFTER_MS,
	LEAVE_FOR_MS,
	REDIS_AFTER_MS,
	steadyTroubles,
} from '../../support/chaos/troubles';
import type { Stage } from './stage';

/** Causes faults in a stage, some constantly and some from time to time, until `end` is called. */
export class Troubles {
	kills = 0;
	redisRestarts = 0;
	/** Seconds for which the service was down. */
	goneSeconds = 0;
	private readonly over = new AbortController();
	private readonly underWay: Promise<void>;

	/** Starts immediately. */
	constructor(private readonly stage: Stage) {
		stage.sandbox.faults.order(...steadyTroubles);
		this.underWay = Promise.all([this.kill(), this.restartRedis(), this.leave()]).then(() => {});
	}

	/** Resolves when everything is up again. Throws if something did not come up. */
	async end(): Promise<void> {
		this.stage.sandbox.faults.clear();
		this.over.abort();
		await this.underWay;
	}

	/** Kills a worker each time, and starts another in its place. Skips a worker that is still starting. */
	private async kill(): Promise<void> {
		const { workers } = this.stage;
		const starting = new Map<number, Promise<unknown>>();
		for (let turn = 0; await this.pause(KILL_EVERY_MS); turn++) {
			const index = turn % workers.length;
			if (starting.has(index)) continue;
			this.kills++;
			const replaced = this.stage.replaceWorker(index).finally(() => starting.delete(index));
			starting.set(index, replaced);
		}
		await Promise.all(starting.values());
	}

	private async restartRedis(): Promise<void> {
		if (!(await this.pause(REDIS_AFTER_MS))) return;
		await this.stage.backing.restartRedis();
		this.redisRestarts++;
	}

	private async leave(): Promise<void> {
		if (!(await this.pause(LEAVE_AFTER_MS))) return;
		const left = Date.now();
		const comeBack = await this.stage.sandbox.leave();
		await this.pause(LEAVE_FOR_MS);
		await comeBack();
		this.goneSeconds = Math.round((Date.now() - left) / 1000);
	}

	/** @returns false if no more faults are wanted */
	private async pause(ms: number): Promise<boolean> {
		return await delay(ms, true, { signal: this.over.signal }).catch(() => false);
	}
}
