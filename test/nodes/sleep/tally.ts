import { outcomeOf } from './judge';
import type { SleepWorld } from './world';

/** Counts what happened in many schedules, to check that they were not free of failures. */
export class SleepTally {
	waits = 0;
	/** Deaths by the depth of the deepest execution that was awake; the last entry: nothing was. */
	deaths = [0, 0, 0, 0, 0];
	/** Steps that went on although n8n was killed after they fell asleep. */
	wentOn = 0;
	stops = 0;
	outages = 0;
	generations = 0;
	refunds = 0;
	limited = 0;
	uncertain = 0;
	/** Steps that sleep for ever, because n8n was killed after it had deleted a helper execution that succeeded. */
	forgotten = 0;

	add(world: SleepWorld): void {
		const { service, schedule, died, stopped, step } = world;
		this.waits += Number(schedule.node === 'wait');
		for (const { awake } of died) this.deaths[awake.length > 0 ? Math.max(...awake) : 4]++;
		this.stops += Number(stopped !== null);
		this.outages += Number(schedule.outage !== null);
		this.generations += service.made.length;
		this.refunds += service.made.filter(({ failure }) => failure !== undefined).length;
		this.forgotten += Number(step.status === 'waiting');
		const { items } = world.resultOf(step);
		const outcomes = items?.map(outcomeOf) ?? [];
		const asleep = died.some(({ stepSleeps }) => stepSleeps);
		this.wentOn += Number(asleep && outcomes.some(({ status }) => status === 'completed'));
		const count = (code: string) => outcomes.filter((one) => one.code === code).length;
		this.limited += Number(count('generation_limit_reached') > 0);
		this.uncertain += count('uncertain_charge');
	}

	toString(): string {
		const [step, guard, waves, results, nothing] = this.deaths;
		return [
			`${this.waits} of them wait only`,
			`n8n killed in ${step} steps, ${guard} guards, ${waves} waves, ${results} results, ${nothing} times asleep`,
			`${this.wentOn} steps went on after that`,
			`${this.forgotten} sleep for ever`,
			`${this.stops} stopped`,
			`${this.outages} outages`,
			`${this.limited} ended by a limit`,
			`${this.generations} generations, ${this.refunds} refunded`,
			`${this.uncertain} uncertain items`,
		].join('; ');
	}
}
