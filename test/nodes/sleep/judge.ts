import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { ExecutionRecord } from '../../support/simulated-n8n/records';
import type { SleepWorld } from './world';

/** How long after a stop a creating request may still leave an execution that was awake then. */
const STOP_MS = { step: 30_000, helper: 180_000 };

/** The parts of an output item that tell how its item ended. */
interface Outcome {
	id: string | null;
	status: string | null;
	/** The code of its error. */
	code: string | null;
}

/** Reads an output item, also one that includes the fields of its input. */
export function outcomeOf({ json }: INodeExecutionData): Outcome {
	const generation = (json.generation ?? json) as IDataObject;
	const text = (value: unknown) => (typeof value === 'string' ? value : null);
	const code = text(json.error_code) ?? (json.error === undefined ? null : 'error');
	return { id: text(generation.id), status: text(generation.status), code };
}

/** Error codes of a step whose sleep ended early. */
const INTERRUPTED = new Set(['batch_interrupted', 'wait_interrupted', 'error']);

/** Judges what a step has done that slept. Throws if a promise is broken. */
export class Judge {
	constructor(
		private readonly world: SleepWorld,
		private readonly step: ExecutionRecord,
	) {}

	/**
	 * Judges the step itself.
	 *
	 * @param hasEnded false if it sleeps for ever
	 */
	judgeStep(hasEnded: boolean): void {
		this.judgeStop();
		this.judgeSpending();
		if (!hasEnded) {
			const { died, schedule } = this.world;
			const isForgotten = !schedule.keeps && died.some(({ forgets }) => forgets);
			if (!isForgotten) this.blame('the step does not end');
			return;
		}
		this.judgeEnd();
		this.judgeOutput();
		this.judgeNames();
	}

	/** Judges the next run of the same items, in which nothing failed. */
	judgeAgain(record: ExecutionRecord): void {
		const { items } = this.world.resultOf(record);
		const { schedule } = this.world;
		if (items?.length !== schedule.items.length) this.blame('the next run does not end');
		if (schedule.node === 'wait') return;
		items?.forEach((item, index) => this.judgeItemAgain(outcomeOf(item), index));
	}

	/** True if nothing but one death of n8n, or not even that, can have ended the step early. */
	private get mustGoOn(): boolean {
		const { died, stopped, schedule } = this.world;
		if (stopped || schedule.tables || died.length > 1) return false;
		// Before its first sleep, or when it ends, the execution of the user dies itself. The guard that hands the results to it
		// is the last execution: nobody goes on after it.
		return died.every(({ stepSleeps, awake }) => stepSleeps && !awake.includes(1));
	}

	private judgeStop(): void {
		const { stopped, service, schedule } = this.world;
		if (!stopped) return;
		const graceMs = schedule.stop?.depth ? STOP_MS.helper : STOP_MS.step;
		const until = stopped.at + (stopped.whileAwake ? graceMs : 0);
		const isStep = schedule.stop?.depth === 0;
		if (!isStep && !stopped.whileAwake) return;
		if (service.creating.some(({ at }) => at > until))
			this.blame('a request is sent after the stop');
	}

	private judgeSpending(): void {
		const { schedule, service, died } = this.world;
		const { onUncertainCharge, maxNewGenerations, limit, retriesOnFailure, node } = schedule;
		if (node === 'wait') {
			if (service.creating.length > 0) this.blame('a wait creates a generation');
			return;
		}
		// The record does not say how often a wave that died sent a request again.
		const unknown = onUncertainCharge === 'resubmit' ? died.length * limit : 0;
		if (service.made.length > (maxNewGenerations ?? Infinity) + unknown) {
			this.blame(`${service.made.length} generations, although there is a limit`);
		}
		schedule.items.forEach((_, index) => {
			const prompt = this.world.promptOf(index);
			const made = service.made.filter((one) => one.prompt === prompt);
			const failed = made.filter(({ failure }) => failure !== undefined).length;
			if (failed > 1 + retriesOnFailure + died.length + (schedule.retryOnFail ? 3 : 0)) {
				this.blame(`item ${index} is created again ${failed} times`);
			}
			this.judgeCharges(index);
		});
	}

	private judgeCharges(index: number): void {
		if (this.world.schedule.onUncertainCharge === 'resubmit') return;
		if (this.world.chargedFor(index).length > 1) this.blame(`item ${index} is charged twice`);
	}

	private judgeEnd(): void {
		const { schedule, stopped } = this.world;
		const { status } = this.step;
		if (stopped && schedule.stop?.depth === 0) {
			if (status !== 'canceled') this.blame(`it was stopped, and ended as ${status}`);
			return;
		}
		if (!this.mustGoOn) return;
		const failing = this.mayFail() || this.outlastsResults;
		const { items, text } = this.world.resultOf(this.step);
		if (items === null && !(schedule.stopOnError && failing)) {
			this.blame(`it ended as ${status}: ${text.slice(0, 300)}`);
		}
		if (/interrupted|did not finish|too many times|stopped at this node/.test(text)) {
			this.blame(`it ended early: ${text.slice(0, 300)}`);
		}
	}

	/** True if there is an outage for longer than the results are fetched. The error then names the generations. */
	private get outlastsResults(): boolean {
		return (this.world.schedule.outage?.lastsMs ?? 0) > 240_000;
	}

	/** True if an item may end with an error although nothing else goes wrong. */
	private mayFail(): boolean {
		const { schedule, uncertain } = this.world;
		return schedule.items.some((kind, index) => {
			if (kind === 'made') return uncertain.has(this.world.promptOf(index));
			const { retriesOnFailure, maxNewGenerations, node } = schedule;
			const isRetried = retriesOnFailure > 0 && maxNewGenerations === null && node === 'create';
			return kind !== 'fails once' || !isRetried;
		});
	}

	private judgeOutput(): void {
		const { schedule, service, stopped } = this.world;
		const { items } = this.world.resultOf(this.step);
		if (items === null || this.isMadeUp(items)) return;
		if (stopped && schedule.stop?.depth === 0) return;
		const isWhole = items.length === schedule.items.length;
		const isAborted = items.length === 1 && outcomeOf(items[0]).code !== null && !this.mustGoOn;
		const leavesOut = schedule.stopOnError && schedule.maxNewGenerations !== null;
		if (!isWhole && !isAborted && !leavesOut) this.blame(`${items.length} output items`);
		if (!isWhole) return;
		items.forEach((item, index) => {
			const outcome = outcomeOf(item);
			const made = service.made.find(({ id }) => id === outcome.id);
			if (made && made.prompt !== this.world.promptOf(index)) {
				this.blame(`item ${index} has the generation of another one`);
			}
			if (outcome.code === null && !made) this.blame(`item ${index} has no generation`);
			if (!INTERRUPTED.has(outcome.code ?? '') || this.mustGoOn) this.judgeOutcome(outcome, index);
		});
	}

	/** True if the guard has died between two of its nodes: what n8n makes up then goes straight to the step. */
	private isMadeUp(items: INodeExecutionData[]): boolean {
		const isMadeUp = items.some(({ json }) => json.isArtificialRecoveredEventItem);
		return isMadeUp && this.world.died.some(({ awake }) => awake.includes(1));
	}

	private judgeOutcome({ id, status, code }: Outcome, index: number): void {
		const { schedule, uncertain } = this.world;
		if (this.outlastsResults && id !== null && code !== null) return;
		const kind = schedule.items[index];
		const prompt = this.world.promptOf(index);
		const allowed = new Set<string | null>([endOf(kind, schedule.retriesOnFailure, schedule.node)]);
		if (kind === 'fails' || kind === 'fails once') {
			// A death may take a retry away, or make one necessary that is not allowed. A limit, too.
			const { died } = this.world;
			if (died.length > 0) allowed.add(null);
			if (died.length > 0 || schedule.maxNewGenerations !== null) allowed.add('generation_failed');
		}
		if (uncertain.has(prompt) && schedule.node === 'create') allowed.add('uncertain_charge');
		if (schedule.maxNewGenerations !== null) allowed.add('generation_limit_reached');
		if (schedule.tables) allowed.add('record_unavailable').add('batch_interrupted');
		if (!allowed.has(code)) this.blame(`item ${index} ended with ${code}`);
		if (code === null && status !== 'completed') this.blame(`item ${index} is ${status}`);
	}

	/** Every generation that was charged is in the output, in the error, in the table or in the log. */
	private judgeNames(): void {
		const { world } = this;
		const { text } = world.resultOf(this.step);
		const rows = JSON.stringify(world.tables.rowsOf('media_generations'));
		// With On Error = Continue, n8n hands on the message of an error only. The rest is with the guard that failed.
		const guards = [...world.n8n.records.values()].filter(({ depth }) => depth === 1);
		const places = [text, rows, ...world.n8n.log, ...guards.map(({ data }) => data)];
		world.schedule.items.forEach((_, index) => {
			// What nobody has an answer for is the matter of the next run.
			if (world.schedule.node === 'wait' || world.uncertain.has(world.promptOf(index))) return;
			const lost = world.chargedFor(index).find((id) => !places.some((one) => one.includes(id)));
			if (lost) this.blame(`item ${index}: the charged ${lost} is mentioned nowhere`);
		});
	}

	private judgeItemAgain({ id, code }: Outcome, index: number): void {
		const { world } = this;
		const kind = world.schedule.items[index];
		const charged = world.chargedFor(index);
		const known = world.rowsOf(index).filter(({ status }) => status !== 'failed');
		const isKnown = known.some((row) => charged.includes(String(row.generation_id)));
		const blame = (what: string) => this.blame(`item ${index} ${what}`);
		this.judgeCharges(index);
		if (code === 'uncertain_charge') {
			if (isKnown) blame('is uncertain, although it is on record');
			if (!world.uncertain.has(world.promptOf(index))) blame('is uncertain without a reason');
		} else if (code === 'generation_failed') {
			if (!kind.startsWith('fails')) blame('failed');
			if (charged.length > 0) blame('failed, although it is charged');
		} else if (code === 'generation_ended') {
			if (kind !== 'ends otherwise') blame('ended otherwise');
		} else if (code !== null || kind === 'ends otherwise') {
			blame(`ended with ${code}`);
		} else if (!isKnown || !charged.includes(id ?? '')) {
			blame('is lost');
		}
	}

	private blame(what: string): never {
		throw new Error(`${what}\nAsleep: ${JSON.stringify(this.world.schedule)}`);
	}
}

/** The code with which an item ends if nothing else goes wrong. */
function endOf(kind: string, retries: number, node: 'create' | 'wait'): string | null {
	switch (kind) {
		case 'fails':
			return 'generation_failed';
		case 'fails once':
			return retries > 0 && node === 'create' ? null : 'generation_failed';
		case 'ends otherwise':
			return 'generation_ended';
		default:
			return null;
	}
}
