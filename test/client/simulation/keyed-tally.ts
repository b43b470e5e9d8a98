import type { KeyedWorld } from './keyed-world';

/** What happened in many schedules, to see that they were no idyll. */
export class KeyedTally {
	executions = 0;
	deaths = 0;
	requests = 0;
	generations = 0;
	lost = 0;
	refunds = 0;

	add({ executions, deaths, lost, service }: KeyedWorld): void {
		this.executions += executions;
		this.deaths += deaths;
		this.requests += service.requests.all.length;
		this.generations += service.books.totals.created;
		this.lost += lost;
		this.refunds += service.books.totals.failed;
	}

	toString(): string {
		const { executions, deaths, requests, generations, lost, refunds } = this;
		return `${executions} executions, ${deaths} of them killed; ${requests} requests; ${generations} generations, ${lost} with a lost answer and ${refunds} refunded`;
	}
}
