import type { ServiceRequest } from '../../../sandbox/requests/request';
import { GenerationService } from '../../../sandbox/service';
import { VirtualTime } from '../../support/virtual-time';
import type { FaultAction } from '../../../sandbox/faults';
import type { Reply } from '../../../sandbox/requests/reply';
import type { OutputRef } from '../../../client/jobs/job';
import type { CreateRequest } from '../../../client/api/client';
import { MarkedPrompt, markIn } from './marked-prompt';
import { Names } from './names';
import { unharmed, type Sabotage } from './sabotage';
import type { Schedule } from './schedule';

/** A generation that was charged for. */
export interface Charge {
	id: string;
	item: number;
	/** Its number in the trace, from 1. */
	number: number;
	/** Whether its id has reached the client. */
	known: boolean;
	/** True if its response was lost, and the resubmission that the user chose created another one for the item. */
	replaced: boolean;
}

const account = 'main';

/** The model of the request, and its fallbacks. */
const MODELS = {
	image: ['aurora-image-1', 'lumen-turbo', 'pinhole-photo-2'],
	video: ['aurora-motion-1', 'inkwell-animate', 'lumen-loop'],
};
/** How a generation ends without an output. */
const ENDS: Record<'fails' | 'ends otherwise', FaultAction> = {
	fails: { kind: 'fail', reason: 'out of paint' },
	'ends otherwise': { kind: 'end', status: 'Timed Out' },
};

/** State that is shared by all tries of a step: the time, the service and its records, and what has happened so far. */
export class World {
	readonly time = new VirtualTime();
	readonly service: GenerationService;
	readonly charges: Charge[] = [];
	/** Items with a creating request whose charge the client cannot know. */
	readonly openItems = new Set<number>();
	/** Promises that were broken. */
	readonly violations: string[] = [];
	/** How many tries there were, and how many of them were stopped. */
	tries = 0;
	stops = 0;
	private readonly names = new Names();
	private readonly trace: Array<{ at: number; line: () => string }> = [];
	private readonly byId = new Map<string, Charge>();
	private readonly startedAt = this.time.now();
	private readonly authorization: string;

	constructor(
		readonly schedule: Schedule,
		readonly sabotage: Sabotage = unharmed,
	) {
		const { seconds, concurrency } = schedule;
		this.service = new GenerationService({
			clock: this.time,
			generationSeconds: ({ index }) => seconds[index % seconds.length],
		});
		this.service.accounts.account(account).concurrency = concurrency;
		this.authorization = `Bearer ${this.service.accounts.keyOf('main').key}`;
	}

	/** Builds an item's request anew, so that it can be distinguished from an equal one of another item. */
	requestOf(item: number): CreateRequest {
		const { type, prompt } = this.schedule.items[item];
		const [model] = this.modelsOf(item);
		return { type, body: { model, prompt: new MarkedPrompt(prompt, item) } };
	}

	/** Returns the input item and output index for an item of the schedule. */
	outputOf(item: number): Required<OutputRef> {
		const { outputs } = this.schedule;
		return { itemIndex: Math.floor(item / outputs), outputIndex: item % outputs };
	}

	/** Returns the model of an item's request, followed by its fallbacks. */
	modelsOf(item: number): string[] {
		return MODELS[this.schedule.items[item].type];
	}

	/** Whether the service has a generation's output. */
	hasEnded(id: string): boolean {
		const finishes = this.service.books.generations.find((one) => one.id === id)?.finishes;
		return finishes !== undefined && finishes <= this.time.now();
	}

	/** Whether the storage has the output of a presigned URL. */
	isWritten(url: string): boolean {
		const { pathname: path, searchParams } = new URL(url);
		const query = Object.fromEntries(searchParams);
		return this.service.fetchOutput({ method: 'GET', path, query, headers: {} }).output !== null;
	}

	/** The item whose output a presigned URL leads to. */
	itemOfUrl(url: string): number {
		return this.charges.find(({ id }) => url.includes(id))?.item ?? -1;
	}

	/** The remaining credits. */
	get balance(): number {
		return this.service.accounts.account(account).balance;
	}

	/** What happened, to check that a schedule was not free of failures. */
	get counts(): Record<string, number> {
		const { tries, stops, charges, service } = this;
		const lost = charges.filter(({ known }) => !known).length;
		const refunded = charges.length - this.live().length;
		const requests = service.requests.all.length;
		return { tries, stops, requests, generations: charges.length, lost, refunded };
	}

	/** Lets others take this many of the account's slots. */
	occupy(slots: number): void {
		this.service.occupy(account, slots);
	}

	/** Lets the service handle a request that has reached it. */
	handle(request: Omit<ServiceRequest, 'headers'>): Reply {
		const headers = { authorization: this.authorization };
		return this.service.handle({ ...request, headers });
	}

	/**
	 * Lets the service handle a creating request.
	 *
	 * @returns its reply, and the charge if it made one
	 */
	create(
		request: Omit<ServiceRequest, 'headers'>,
		end: keyof typeof ENDS | null,
	): [Reply, Charge | null] {
		if (end !== null) this.service.faults.order({ on: 'create', action: ENDS[end] });
		const reply = this.handle(request);
		// If the generation was rejected, its failure must not affect the next one.
		this.service.faults.clear();
		const id = reply.record?.generationId;
		if (!id) return [reply, null];
		const charge: Charge = {
			id,
			item: markIn(request.body),
			number: this.charges.length + 1,
			known: false,
			replaced: false,
		};
		this.charges.push(charge);
		this.byId.set(id, charge);
		return [reply, charge];
	}

	/** Judges the name of an item's creating request that is sent. */
	judgeName(item: number, headers: Record<string, string> | undefined, body: unknown): void {
		const failed =
			this.charges.filter((charge) => charge.item === item).length - this.live(item).length;
		const broken = this.names.judge(item, headers, failed, (body as { model: string }).model);
		if (broken !== null) this.blame(broken);
	}

	/** Notes that the response with a charge's id has reached the client. */
	known(charge: Charge): void {
		charge.known = true;
		this.openItems.delete(charge.item);
		for (const other of this.charges) {
			if (other.item === charge.item && !other.known) other.replaced = true;
		}
	}

	find(id: string | null | undefined): Charge | undefined {
		return typeof id === 'string' ? this.byId.get(id) : undefined;
	}

	/** Returns the charges that were not refunded, of all items or of one. */
	live(item?: number): Charge[] {
		const books = this.service.books.generations;
		return this.charges.filter(
			(charge, index) =>
				(item === undefined || charge.item === item) &&
				books[index].charged > books[index].refunded,
		);
	}

	tell(line: () => string): void {
		this.trace.push({ at: this.time.now(), line });
	}

	/** Notes that a promise was broken, at this point of the trace. */
	blame(violation: string): void {
		this.violations.push(violation);
		this.tell(() => `!! ${violation}`);
	}

	/** @throws Error with the whole trace if a promise was broken */
	assertKept(): void {
		if (this.violations.length > 0) throw this.failure();
	}

	failure(): Error {
		const story = this.trace.map(({ at, line }) => {
			const seconds = ((at - this.startedAt) / 1000).toFixed(2);
			return `${seconds.padStart(8)} s  ${line()}`;
		});
		return new Error(`${this.violations[0]}\n\n${story.join('\n')}\n`);
	}
}

/** Returns `#3` for the third charge, or `nothing`. */
export function nameOf(charge: Charge | undefined): string {
	return charge ? `#${charge.number}` : 'nothing';
}
