import { setTimeout as delay } from 'node:timers/promises';
import type { FaultOrder } from '../../../sandbox/faults';
import type { Stage } from './stage';

/** What goes wrong all the time, at the service and its storage. */
export const steadyTroubles: FaultOrder[] = [
	{ on: 'create', times: 'always', share: 0.02, action: { kind: 'loseAnswer' } },
	{ on: 'create', times: 'always', share: 0.03, action: { kind: 'error', code: 'server_error' } },
	{
		on: 'download',
		times: 'always',
		share: 0.03,
		action: { kind: 'truncate', afterBytes: 1000 },
	},
];

const KILL_EVERY_MS = 20_000;
const REDIS_AFTER_MS = 75_000;
const LEAVE_AFTER_MS = 110_000;
const LEAVE_FOR_MS = 20_000;

/** What goes wrong now and then. */
export class Troubles {
	kills = 0;
	redisRestarts = 0;
	/** Seconds for which the service was gone. */
	goneSeconds = 0;
	private readonly over = new AbortController();
	private readonly underWay: Promise<void>;

	/** Begins at once. */
	constructor(private readonly stage: Stage) {
		this.underWay = Promise.all([this.kill(), this.restartRedis(), this.leave()]).then(() => {});
	}

	/** Ends once what is down is up again. Throws where that did not come up. */
	async end(): Promise<void> {
		this.over.abort();
		await this.underWay;
	}

	/** A worker each time, and another takes its place. */
	private async kill(): Promise<void> {
		while (await this.pause(KILL_EVERY_MS)) {
			await this.stage.replaceWorker(this.kills++ % this.stage.workers.length);
		}
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

	/** @returns false where there is to be no more trouble */
	private async pause(ms: number): Promise<boolean> {
		return await delay(ms, true, { signal: this.over.signal }).catch(() => false);
	}
}
