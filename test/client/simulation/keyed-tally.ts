import type { KeyedWorld } from './keyed-world';

/** Counts what happened in many schedules, to check that they were not free of failures. */
export class KeyedTally {
	executions = 0;
	deaths = 0;
	timeouts = 0;
	pauses = 0;
	deeds = 0;
	mostCalls = 0;
	longestMs = 0;
	requests = 0;
	generations = 0;
	lost = 0;
	refunds = 0;
	/** Generations of items without a key. */
	unkeyed = 0;
	secondCalls = 0;
	brokenDownloads = 0;

	add(world: KeyedWorld): void {
		const { executions, deaths, lost, service } = world;
		this.unkeyed += world.unkeyed;
		this.secondCalls += world.secondCalls;
		this.brokenDownloads += world.brokenDownloads;
		this.timeouts += world.timeouts;
		this.pauses += world.pauses;
		this.deeds += world.deeds;
		this.mostCalls = Math.max(this.mostCalls, world.mostCalls);
		this.longestMs = Math.max(this.longestMs, world.longestMs);
		this.executions += executions;
		this.deaths += deaths;
		this.requests += service.requests.all.length;
		this.generations += service.books.totals.created;
		this.lost += lost;
		this.refunds += service.books.totals.failed;
	}

	toString(): string {
		const { executions, deaths, timeouts, pauses, deeds, requests, generations, lost, refunds } =
			this;
		const { mostCalls, longestMs, unkeyed, secondCalls, brokenDownloads } = this;
		return `${executions} executions, ${deaths} of them killed, ${timeouts} timed out, ${pauses} paused; ${deeds} edits by hand; ${secondCalls} second calls and ${brokenDownloads} broken downloads; at most ${mostCalls} calls a key and ${longestMs / 1000} s; ${requests} requests; ${generations} generations, ${unkeyed} of them without a key, ${lost} with a lost answer and ${refunds} refunded`;
	}
}
