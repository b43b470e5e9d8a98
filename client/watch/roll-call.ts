import { GenerationError } from '../api/errors';
import { limit, toResult } from '../async';
import { pause } from '../api/retry';
import type { Row } from '../jobs/row';
import type { StatusPorts, StatusRequests } from './status-requests';

/** Number of generations that are asked for at the same time. */
const AT_ONCE = 5;
/** A younger row may be of a generation that a replica of the service does not have yet. */
const LAG_MS = 60_000;
/** If the service knows none of them, it is asked again for `ASKED_AGAIN` of them, in `ROUNDS` rounds. */
const ASKED_AGAIN = 2;
const ROUNDS = 2;
/** Maximum number of roll calls of a step, if responses such as those of a proxy leave them without a result. */
const MOST_CALLS = 3;

/**
 * Finds out whether the service knows any of the generations on record for a step: another service, or one that was
 * reset, knows none.
 *
 * A single generation that it does not know is asked for with patience, because a replica may lag, or an instance may
 * restart. That patience has no reason if all of them are older than any lag, the service itself says of each that it
 * does not know it, and repeats that after a pause. Nothing is created after such a verdict.
 */
export class RollCall {
	private lost: ReadonlySet<string> | null = null;
	private callsLeft = MOST_CALLS;
	private running: Promise<ReadonlySet<string> | null> | null = null;

	/** @param onRecord returns the rows of the step that have a generation */
	constructor(
		private readonly ports: StatusPorts,
		private readonly requests: StatusRequests,
		private readonly onRecord: () => Row[],
	) {}

	/** True if the service is known to have lost this generation, with all others on record. */
	isLost(id: string): boolean {
		return this.lost?.has(id) ?? false;
	}

	/** Throws GenerationError if a generation is lost. */
	requireNotLost(id: string): void {
		if (!this.lost?.has(id)) return;
		throw new GenerationError({
			title: `Generation ${id} not found`,
			description: 'Use the service and the credential that created it.',
			code: 'generation_not_found',
			status: 404,
			noneOf: this.lost.size,
		});
	}

	/**
	 * Asks for all generations on record, after the service said that it does not know one of them. Calls share the result.
	 *
	 * @param deadline responses that come later count as uncertain
	 * @throws GenerationError as `requireNotLost`; CancelledError once the step ends
	 */
	async require(id: string, deadline: number): Promise<void> {
		this.running ??= this.call(deadline).finally(() => (this.running = null));
		this.lost ??= await this.running;
		this.requireNotLost(id);
	}

	/** Returns the generations on record if the service knows none of them, otherwise `null`. */
	private async call(deadline: number): Promise<ReadonlySet<string> | null> {
		const { clock, halt } = this.ports;
		const rows = this.onRecord();
		const ids = [...new Set(rows.map((row) => row.generation_id))];
		const mayLag = ({ changedAt }: Row) =>
			changedAt === null || Math.abs(clock.now() - changedAt) < LAG_MS;
		if (ids.length < 2 || rows.some(mayLag) || this.callsLeft === 0) return null;
		this.callsLeft--;
		if (!(await this.knowsNone(ids, deadline))) return null;
		for (let round = 0; round < ROUNDS; round++) {
			await pause(clock, Math.min(this.requests.intervalMs, deadline - clock.now()), halt);
			const some = round % 2 === 0 ? ids.slice(0, ASKED_AGAIN) : ids.slice(-ASKED_AGAIN);
			if (!(await this.knowsNone(some, deadline))) return null;
		}
		return new Set(ids);
	}

	/** True if the service itself says of each generation that it does not know it. Stops at the first other response. */
	private async knowsNone(ids: string[], deadline: number): Promise<boolean> {
		const { requests } = this;
		const run = limit(AT_ONCE);
		let isCertain = ids.every((id) => requests.known(id) === null);
		const ask = async (id: string) => {
			// The service may have asked to wait.
			isCertain &&= requests.hold.leftMs <= 0;
			if (!isCertain) return;
			const asked = await toResult(async () => await requests.fetch(id, deadline).response);
			isCertain &&= !asked.ok && isUnknownId(asked.error);
			if (asked.ok && asked.value !== null) this.callsLeft = 0;
			if (!asked.ok && asked.error instanceof GenerationError) requests.hold.note(asked.error);
		};
		await Promise.all(ids.map(async (id) => await run(async () => await ask(id))));
		return isCertain;
	}
}

function isUnknownId(error: unknown): boolean {
	return error instanceof GenerationError && error.code === 'generation_not_found';
}
