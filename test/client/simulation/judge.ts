import { outputName, type OutputRef } from '../../../client/jobs/job';
import type { Outcome } from '../../../client/jobs/outcome';
import { paidGenerations } from '../../../nodes/shared/output/outcomes';
import type { GenerationError } from '../../../client/api/errors';
import type { GenerationItem } from '../../../client/api/generation';
import type { StoredOrder } from '../../../client/orders/journal';
import type { PipelineResult } from '../../../client/step/pipeline';
import type { Kept } from './step';
import type { Try } from './schedule';
import { nameOf, type Charge, type World } from './world';
import type { Traffic } from './traffic';
import type { Transport } from './transport';

/** A try that has ended, and its result. */
export interface Ended {
	world: World;
	plan: Try;
	transport: Transport;
	kept: Kept;
	result: PipelineResult<string>;
}

/** Compares a try with the service's own records. Broken promises are noted in the world. */
export function judge(ended: Ended): void {
	const { world, result } = ended;
	const { length } = world.schedule.items;
	if (result.outcomes.length !== length) {
		return world.blame(`${result.outcomes.length} outcomes for ${length} items`);
	}
	const paid = new Set(paidGenerations(result.outcomes).map(({ id }) => id));
	const allLive = world.live();
	result.outcomes.forEach((outcome, item) => {
		const live = allLive.filter((charge) => charge.item === item);
		judgeItem({ ...ended, item, outcome, live, paid });
	});
	judgeTraffic(ended);
	judgeStats(ended);
}

interface ItemEnded extends Ended {
	item: number;
	outcome: Outcome<string>;
	/** Its charges that were not refunded. */
	live: Charge[];
	/** Ids that the step reports as charged. */
	paid: Set<string>;
}

function judgeItem(ended: ItemEnded): void {
	const { world, kept, item, outcome, live, paid } = ended;
	const id = idOf(outcome);
	const named = world.find(id);
	const blame = (text: string) => world.blame(`Item ${item} (${tellOutcome(outcome)}): ${text}`);
	world.tell(() => `item ${item}  outcome: ${tellOutcome(outcome)} ${nameOf(named)}`);

	if (id !== null && named?.item !== item) blame('its outcome is about another generation');
	for (const charge of live) {
		const name = nameOf(charge);
		if (charge.known) {
			if (charge.id !== id) blame(`paid ${name} is missing in it`);
			if (!paid.has(charge.id)) blame(`paid ${name} is not among what was paid for`);
			if (!journalIds(kept).has(charge.id)) blame(`paid ${name} is missing in the journal`);
		} else if (!charge.replaced && !tellsOfLoss(ended, charge)) {
			blame(`the lost ${name} is mentioned nowhere`);
		}
	}
	if (outcome.kind === 'error') judgeError(ended, outcome.error, blame);
	if (outcome.kind === 'done') judgeDone(ended, outcome.generation, blame);
}

function judgeError(
	ended: ItemEnded,
	{ charge, code }: GenerationError,
	blame: (text: string) => void,
): void {
	const spent = ended.live.filter((one) => one.known || !(one.replaced || tellsOfLoss(ended, one)));
	if ((charge === 'none' || charge === 'refunded') && spent.length > 0) {
		blame(`it says that nothing is spent, but ${spent.map(nameOf).join(', ')} is`);
	}
	if (charge === 'unknown' && !ended.world.openItems.has(ended.item)) {
		blame('it says that nobody knows, but everything is known');
	}
	if (code === 'unexpected_error') blame('a programming error');
}

function judgeDone(
	{ world, plan: { settings }, live }: ItemEnded,
	{ id, status, timed_out: timedOut }: GenerationItem,
	blame: (text: string) => void,
): void {
	const finished = status === 'completed' || !settings.wait || timedOut;
	if (!finished || status === 'failed') blame('handed on as if it had finished');
	if (status === 'completed' && !live.some((charge) => charge.id === id)) {
		blame('it was not paid for');
	}
	if (status === 'completed' && !world.hasEnded(id)) blame('it has not ended yet');
	if (timedOut && settings.onTimeout === 'error') blame('handed on after its timeout');
}

/**
 * Returns whether the outcome says that the response of the charge was lost. After a stop, an entry in the journal is
 * enough. It is also enough for a charge of an earlier try if this try did not reach the item.
 */
function tellsOfLoss(
	{ world, plan, transport, kept, item, outcome }: ItemEnded,
	charge: Charge,
): boolean {
	if (outcome.kind === 'error' && outcome.error.charge === 'unknown') return true;
	const earlier = charge.number <= transport.chargesBefore;
	const excused =
		outcome.kind === 'stopped'
			? earlier || transport.canceledAt !== null
			: earlier && plan.brokenItems.includes(item);
	return excused && journalOf(kept, world, item).some(({ id }) => id === undefined);
}

function judgeTraffic({ world, plan, transport, result }: Ended): void {
	const traffic = [...transport.traffic.values()];
	const { maxConcurrent } = plan.settings;
	const inFlight = mostAtOnce(traffic);
	if (inFlight > maxConcurrent) {
		world.blame(`${inFlight} generations in flight, ${maxConcurrent} allowed`);
	}
	const timeoutMs = plan.settings.timeoutSeconds * 1000;
	for (const [item, { since, until }] of transport.traffic) {
		const late = until - since - timeoutMs;
		if (late > 0) world.blame(`Item ${item} is looked at ${late} ms after its timeout`);
	}
	const { canceledAt } = transport;
	// Only requests in flight may receive their ids. A request that is being built is completed.
	const lasted = canceledAt && world.time.now() - Math.max(canceledAt, transport.createdAt);
	if (lasted && lasted > plan.buildMs)
		world.blame(`The step went on for ${lasted} ms after the stop`);
	// Items beyond the limit are not sent, and end no step.
	if (canceledAt === null && (!plan.settings.stopOnError || result.firstFailed === null)) {
		const stopped = result.outcomes.findIndex(({ kind }) => kind === 'stopped');
		if (stopped >= 0) world.blame(`Item ${stopped} was stopped by nothing`);
	}
}

/** An item holds one of the step's slots from its first request to its last, or until its output is there. */
function mostAtOnce(traffic: Traffic[]): number {
	return Math.max(
		0,
		...traffic.map(
			({ first }) =>
				traffic.filter(({ first: from, over, last }) => from <= first && first <= (over ?? last))
					.length,
		),
	);
}

function judgeStats({ world, transport, result: { outcomes, stats, firstFailed } }: Ended): void {
	if (stats.made !== transport.made) {
		world.blame(`It says ${stats.made} were made, but ${transport.made} were`);
	}
	const failed = outcomes.some(
		(one) => one.kind === 'error' && !one.error.code.match(/limit_reached|below_minimum/),
	);
	const { itemIndex = 0, outputIndex = 0 }: Partial<OutputRef> = firstFailed ?? {};
	const first = firstFailed && outcomes[itemIndex * world.schedule.outputs + outputIndex];
	// After a stop, an item that was not begun again keeps the uncertain charge of an earlier try.
	if (transport.canceledAt !== null && firstFailed === null) return;
	if (failed !== (first?.kind === 'error')) world.blame('The first error is not the one it names');
}

export function idOf(outcome: Outcome<unknown>): string | null {
	return (outcome.kind === 'error' ? outcome.error.generation : outcome.generation)?.id ?? null;
}

export function tellOutcome(outcome: Outcome<unknown>): string {
	if (outcome.kind !== 'error') return outcome.kind;
	return `${outcome.error.code}, charge ${outcome.error.charge}`;
}

function journalIds({ generations }: Kept): Set<string | undefined> {
	const orders = Object.values(generations).flatMap((items) => Object.values(items).flat());
	return new Set(orders.map(({ id }) => id));
}

/** What is stored with the execution for one output. */
function journalOf({ generations }: Kept, world: World, item: number): StoredOrder[] {
	return generations[0]?.[outputName(world.outputOf(item))] ?? [];
}
