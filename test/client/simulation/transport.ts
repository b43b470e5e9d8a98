import { markIn } from './marked-prompt';
import { aborted, mayHavePassed, timedOut } from './faults';
import { closesForAll, closesForItem, tellsNothingLeft } from './refusals';
import { PaceJudge } from './judge-pace';
import { SpendingJudge } from './judge-spending';
import { nameOf, type Charge, type World } from './world';
import type { ProbeUrl, SendRequest, ServiceRequest, ServiceResponse } from '../../../client/ports';
import { storages, type Storage } from './storages';
import { answerOf, newTraffic, type Traffic } from './traffic';
import type { Answer, CreateFate, LookFate, Try } from './schedule';

/** The HTTP client's timeout, and how long a creating request may continue after a stop. */
const TIMEOUT_MS = 60_000;
const GRACE_MS = 5_000;

const usual = { answer: { kind: 'own' }, ms: 40 } as const;

/**
 * Connects one try to the service, like the nodes' transport: a stop ends read requests at once, and gives creating
 * requests some time to receive their response.
 */
export class Transport {
	readonly traffic = new Map<number, Traffic>();
	/** Number of generations whose id the client received in this try. */
	made = 0;
	canceledAt: number | null = null;
	/** When the last creating request received its response, or was abandoned. */
	createdAt = 0;
	/**
	 * The time after which no item may send its first creating request, and the time after which none may be sent at
	 * all.
	 */
	private closedAt = Infinity;
	private haltedAt = Infinity;
	private readonly stop = new AbortController();
	private readonly grace = new AbortController();
	/** How many charges there were before this try. */
	readonly chargesBefore: number;
	private readonly startedAt: number;
	private requests = 0;
	private answers = 0;
	private events = 0;
	private creates = 0;
	private readonly storage: Storage;
	private looks = 0;
	private readonly spending: SpendingJudge;
	private readonly pace: PaceJudge;

	constructor(
		private readonly world: World,
		private readonly plan: Try,
	) {
		this.chargesBefore = world.charges.length;
		this.startedAt = world.time.now();
		this.spending = new SpendingJudge(world, plan.settings, this.chargesBefore);
		this.pace = new PaceJudge(world);
		const { storage } = world.schedule;
		this.storage = storages[storage === 'hanging' ? 'unreachable' : storage]();
		const { cancel } = plan;
		if (cancel?.when === 'seconds') {
			world.time.at(this.startedAt + cancel.value * 1000, () => this.cancel());
		}
	}

	get signal(): AbortSignal {
		return this.stop.signal;
	}

	readonly send: SendRequest = async (request, signal = this.stop.signal) => {
		const { world } = this;
		if (this.stop.signal.aborted) world.blame(`${request.method} sent after the stop`);
		if (request.path === '/v1/credits/balance') {
			await world.time.sleep(20, signal);
			const { status, body } = world.handle(request);
			return { status, body };
		}
		const creating = request.method === 'POST';
		const id = creating ? null : request.path.split('/').at(-1);
		const item = creating ? markIn(request.body) : (world.find(id)?.item ?? -1);
		if (item < 0) world.blame(`A request that no item made: ${request.path}`);
		const traffic = this.arriving(item);
		if (this.isTime('request', ++this.requests)) this.cancel();
		try {
			return creating
				? await this.create(request, item, traffic)
				: await this.look(request, item, traffic, signal);
		} finally {
			traffic.last = this.events++;
			if (creating) this.createdAt = world.time.now();
			if (this.isTime('answer', ++this.answers)) this.cancel();
		}
	};

	private async create(
		request: ServiceRequest,
		item: number,
		traffic: Traffic,
	): Promise<ServiceResponse> {
		const { world } = this;
		const fate = this.fateOf<CreateFate>(this.plan.creates[this.creates++], {
			...usual,
			work: 'done',
		});
		const sentAt = world.time.now();
		if (sentAt > this.haltedAt) world.blame(`Item ${item} is sent although the step has failed`);
		if (sentAt > this.closedAt && traffic.creates === 0) {
			world.blame(`Item ${item} is sent although it will be refused, too`);
		}
		const usesFreed = this.pace.creates();
		world.judgeName(item, request.headers, request.body);
		this.spending.request(item);
		traffic.creates++;
		traffic.over = null;
		let arrived = false;
		try {
			await this.travel(sentAt, fate.ms / 2, this.grace.signal);
			const own = fate.work === 'not done' ? null : this.charge(request, item, fate);
			await this.travel(sentAt, fate.ms / 2, this.grace.signal);
			arrived = true;
			this.pace.answered('create', fate.answer, usesFreed);
			return this.deliver(item, fate, own?.response ?? null, own?.charge ?? null);
		} catch (failure) {
			if (!arrived && usesFreed) this.pace.ended();
			world.tell(() => `item ${item}  POST: ${String(failure)}`);
			if (!arrived || !tellsNothingLeft(fate.answer)) this.lost(item);
			throw failure;
		}
	}

	/** Asks the storage for the first byte of an output, as the nodes do. */
	readonly probe: ProbeUrl = async (url, signal) => {
		const { world } = this;
		const { storage, readiness } = world.schedule;
		if (this.stop.signal.aborted) world.blame('A probe was sent after the stop');
		await world.time.sleep(storage === 'hanging' ? TIMEOUT_MS : 20, signal);
		if (signal?.aborted) throw aborted();
		if (storage === 'hanging') throw timedOut();
		const written = world.isWritten(url);
		const answer = this.storage(written, url);
		if (answer instanceof Error) throw answer;
		const traffic = this.traffic.get(world.itemOfUrl(url));
		const decides = readiness === 'outputUrl' && written && answer.oneByte;
		if (decides && traffic) traffic.over ??= this.events++;
		return answer;
	};

	private charge(request: ServiceRequest, item: number, { work }: CreateFate) {
		const { world } = this;
		const others = world.live(item);
		const fails = work === 'fails later' || this.plan.failing;
		const otherwise = work === 'ends otherwise' ? work : null;
		const [reply, charge] = world.create(request, fails ? 'fails' : otherwise);
		if (!this.spending.created(item)) this.cancel();
		if (charge) {
			world.tell(() => `item ${item}  POST: the service makes ${nameOf(charge)}`);
			const resubmit = this.plan.settings.onUncertainCharge === 'resubmit';
			const double = others.find((other) => !other.replaced && (other.known || !resubmit));
			if (double) world.blame(`Item ${item} pays for ${nameOf(charge)} besides ${nameOf(double)}`);
		}
		return { response: { status: reply.status, body: reply.body }, charge };
	}

	/** Returns the response, and notes what the client can know from it. */
	private deliver(
		item: number,
		{ answer }: CreateFate,
		own: ServiceResponse | null,
		charge: Charge | null,
	): ServiceResponse {
		const response = answerOf(answer, own);
		this.world.tell(() => `item ${item}  POST: ${response.status} ${JSON.stringify(answer)}`);
		if (closesForAll(answer)) {
			this.closedAt = Math.min(this.closedAt, this.world.time.now());
		}
		if (closesForItem(answer) && !this.mayFallBack(answer)) this.failed();
		if (charge && answer.kind === 'own') {
			this.made++;
			const traffic = this.traffic.get(item) as Traffic;
			traffic.since = traffic.until = this.world.time.now();
			this.world.known(charge);
		}
		if (answer.kind === 'foreign' && mayHavePassed(answer.name)) this.lost(item);
		return response;
	}

	/** Notes that the client cannot know whether the item's request was charged. */
	private lost(item: number): void {
		this.world.openItems.add(item);
		if (this.plan.settings.onUncertainCharge === 'error') this.failed();
	}

	private mayFallBack(answer: Answer): boolean {
		const { fallbacks } = this.plan.settings;
		return fallbacks > 0 && answer.kind === 'refusal' && answer.code === 'model_not_found';
	}

	/** Notes that a generation has failed. It may be created again. */
	private failedOnce(traffic: Traffic): void {
		const { retriesOnFailure, fallbacks, wait } = this.plan.settings;
		traffic.failures++;
		if (!wait || traffic.failures > retriesOnFailure + fallbacks) this.failed();
	}

	/** Notes that an item has failed with an error. */
	private failed(): void {
		if (!this.plan.settings.stopOnError) return;
		this.haltedAt = Math.min(this.haltedAt, this.world.time.now());
	}

	private async look(
		request: ServiceRequest,
		item: number,
		traffic: Traffic,
		signal: AbortSignal,
	): Promise<ServiceResponse> {
		const { world } = this;
		const fate = this.fateOf<LookFate>(this.plan.looks[this.looks++], usual);
		const sentAt = world.time.now();
		this.pace.checked(item, request.path);
		this.pace.looks();
		traffic.since = Math.min(traffic.since, sentAt);
		try {
			await this.travel(sentAt, fate.ms / 2, signal);
			const own = world.handle(request);
			await this.travel(sentAt, fate.ms / 2, signal);
			const response = answerOf(fate.answer, { status: own.status, body: own.body });
			this.pace.answered('look', fate.answer);
			const status = (response.body as { status?: string } | undefined)?.status ?? '';
			world.tell(() => `item ${item}  GET: ${response.status} ${status}`);
			if (fate.answer.kind === 'own') {
				if (!['pending', 'processing', ''].includes(status)) this.pace.ended();
				// A failed generation of an earlier try is created again.
				if (status === 'failed' && traffic.creates > 0) this.failedOnce(traffic);
				// It is not refunded, so that it is never created again.
				if (status === 'Timed Out') this.failed();
			}
			return response;
		} catch (failure) {
			world.tell(() => `item ${item}  GET: ${String(failure)}`);
			throw failure;
		} finally {
			traffic.until = world.time.now();
		}
	}

	/** Waits for one direction of a request, until it is aborted or times out. */
	private async travel(sentAt: number, ms: number, signal: AbortSignal): Promise<void> {
		const { time } = this.world;
		const left = sentAt + TIMEOUT_MS - time.now();
		await time.sleep(Math.min(ms, left), signal);
		if (signal.aborted) throw aborted();
		if (ms >= left) throw timedOut();
	}

	private fateOf<F extends LookFate>(planned: F | undefined, otherwise: F): F {
		const seconds = (this.world.time.now() - this.startedAt) / 1000;
		const outage = this.plan.outages.find(
			(one) => seconds >= one.fromSeconds && seconds < one.fromSeconds + one.seconds,
		);
		const fate = planned ?? otherwise;
		return outage ? { ...fate, answer: outage.answer, work: 'not done' } : fate;
	}

	private arriving(item: number): Traffic {
		const event = this.events++;
		const traffic = this.traffic.get(item) ?? newTraffic(event);
		this.traffic.set(item, traffic);
		traffic.last = event;
		return traffic;
	}

	private isTime(when: 'request' | 'answer', count: number): boolean {
		const { cancel } = this.plan;
		return cancel?.when === when && cancel.value === count;
	}

	private cancel(): void {
		if (this.canceledAt !== null) return;
		const { time } = this.world;
		this.canceledAt = time.now();
		this.world.tell(() => 'the user stops the step');
		time.at(this.canceledAt + GRACE_MS, () => this.grace.abort());
		this.stop.abort();
	}
}
