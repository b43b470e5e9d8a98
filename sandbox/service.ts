import { AccountBook } from './accounts/accounts';
import type { Caller } from './accounts/accounts';
import { authenticate } from './accounts/authentication';
import { ConnectedApps } from './accounts/connected-apps';
import { Books } from './books/books';
import { modelsReply } from './models/reply';
import { systemClock } from './basics/clock';
import type { Clock } from './basics/clock';
import { createGeneration, createOnce, refreshUrl } from './generations/creation';
import type { Workshop } from './generations/creation';
import { creditBalance, creditSummary } from './books/credits';
import { parseBody, promptIn } from './requests/body';
import { ServiceError } from './basics/errors';
import { bearsOnGeneration, FaultQueue } from './faults';
import type { FaultAction, FaultSubject } from './faults';
import { entryAt } from './generations/generations';
import type { Generation } from './generations/generations';
import { fetchInputs } from './generations/fetched-inputs';
import type { InputFetching } from './generations/input-fetch';
import { KeptBooks } from './books/kept-books';
import { Ledger } from './books/ledger';
import { Presigner } from './storage/presign';
import { seededRandom } from './basics/random';
import type { Random } from './basics/random';
import { answer, faulted, refusalFrom } from './requests/reply';
import type { Reply } from './requests/reply';
import type { ServiceRequest } from './requests/request';
import { RequestLog } from './books/requests';
import type { RequestRecord } from './books/requests';
import { routeOf } from './requests/routes';
import type { Route } from './requests/routes';
import { fetchOutput } from './storage/storage';
import type { StorageReply } from './storage/storage';
import { timeFrom } from './generations/timing';
import type { GenerationTime } from './generations/timing';

export interface ServiceOptions {
	/** Source of time. Default: the machine's clock. */
	clock?: Clock;
	/** Determines ids, times and seeds. Default 1. */
	seed?: number;
	/** Divides generation times only. Default 1. */
	timeScale?: number;
	/** Lifetime of a presigned URL in whole seconds. Default 3600 (spec 8). */
	urlLifetimeSeconds?: number;
	/** Duration of a generation in seconds, before the time scale. Default: about the model's average. */
	generationSeconds?: number | GenerationTime;
	/** Status of the storage's response for a file that is not written yet. Default 404. */
	missingOutputStatus?: 403 | 404;
	/** If true, a second request with the same `Idempotency-Key` returns the generation of the first. */
	honorsIdempotencyKeys?: boolean;
	/** Fetches the URLs in creating requests, and fails generations whose files cannot be fetched. Default: fetches nothing. */
	fetchInputs?: InputFetching;
	/** File that keeps the books for the next start. Default: they are lost at the end. */
	keepIn?: string;
	/** Origin of presigned URLs. The default does not resolve, for use without HTTP. */
	storageOrigin?: string;
}

/**
 * Implements the service of the spec as plain synchronous code with a clock. States are derived from the time, so a
 * thousand generations can start and end between two ticks of a virtual clock.
 */
export class GenerationService {
	readonly accounts: AccountBook;
	readonly apps = new ConnectedApps();
	readonly faults = new FaultQueue();
	readonly requests = new RequestLog();
	readonly books: Books;
	readonly clock: Clock;
	readonly urlLifetimeSeconds: number;
	readonly missingOutputStatus: 403 | 404;
	/** Origin of the presigned URLs issued from now on. */
	storageOrigin: string;
	private readonly ledger: Ledger;
	private readonly misses = new Map<string, number>();
	private readonly workshop: Workshop;
	private readonly seed: number;
	private readonly fetching: InputFetching | null;
	private random: Random;

	constructor(options: ServiceOptions = {}) {
		this.clock = options.clock ?? systemClock;
		this.seed = options.seed ?? 1;
		this.fetching = options.fetchInputs ?? null;
		this.random = seededRandom(this.seed);
		this.urlLifetimeSeconds = Math.max(1, Math.ceil(options.urlLifetimeSeconds ?? 3600));
		this.missingOutputStatus = options.missingOutputStatus ?? 404;
		this.storageOrigin = options.storageOrigin ?? 'http://storage.invalid';
		const kept = options.keepIn === undefined ? null : new KeptBooks(options.keepIn);
		this.accounts = new AccountBook();
		this.ledger = new Ledger(kept);
		kept?.restore(this.ledger, this.accounts);
		this.books = new Books(this.ledger, () => this.clock.now());
		this.workshop = {
			ledger: this.ledger,
			presigner: new Presigner(kept?.secret ?? `sandbox ${this.seed}`),
			random: () => this.random(),
			generationTime: timeFrom(options.generationSeconds),
			timeScale: options.timeScale ?? 1,
			urlLifetimeSeconds: this.urlLifetimeSeconds,
			storageOrigin: () => this.storageOrigin,
			rejections: new Map(),
			repeats: options.honorsIdempotencyKeys ? new Map() : null,
		};
	}

	/** Handles one request to the service's origin (spec 4). Never throws. */
	handle(request: ServiceRequest): Reply {
		const now = this.clock.now();
		this.ledger.settle(now);
		const route = routeOf(request.method, request.path);
		const arrival = { at: now, origin: 'service', method: request.method } as const;
		const record = this.requests.add(
			{ ...arrival, on: route.on, path: request.path },
			request.headers,
		);
		const taken = this.faults.take(this.subjectOf(request, route));
		const action = taken?.action ?? null;
		record.fault = action && action.kind;
		const work = (): Reply => this.work(request, route, now, action, record);
		const reply = faulted(action, work);
		// A rejected request has no generation that could fail or take time, so the fault applies to the next one.
		if (taken && bearsOnGeneration(taken.action) && reply.status !== 200) taken.giveBack();
		record.answered = reply.delivery === 'answer';
		record.status = record.answered ? reply.status : null;
		return { ...reply, record };
	}

	/** Handles one request to the storage origin (spec 4.3). Never throws. */
	fetchOutput(request: ServiceRequest): StorageReply {
		const now = this.clock.now();
		this.ledger.settle(now);
		const id = /([^/]+)\.(?:png|mp4)$/.exec(request.path)?.[1] ?? '';
		const on = request.headers.range === 'bytes=0-0' ? 'probe' : 'download';
		const arrival = { at: now, origin: 'storage', method: request.method } as const;
		const record = this.requests.add({ ...arrival, on, path: request.path }, request.headers);
		const generation = this.ledger.find(id);
		record.generationId = generation?.id ?? null;
		const subject = { on, id, prompt: generation?.prompt } as const;
		const action = this.faults.take(subject)?.action ?? null;
		record.fault = action && action.kind;
		const { presigner } = this.workshop;
		const missingStatus = this.missingOutputStatus;
		const shelf = { presigner, generation, now, missingStatus, misses: this.misses };
		const reply = fetchOutput(request, shelf, action);
		record.answered = reply.delivery === 'answer';
		record.status = record.answered ? reply.status : null;
		return { ...reply, record };
	}

	private subjectOf(request: ServiceRequest, route: Route): FaultSubject {
		const on = route.on === 'other' ? 'any' : route.on;
		if (this.faults.pending.length === 0) return { on };
		if (route.on === 'create') return { on, prompt: promptIn(request.body) };
		if (route.on !== 'status') return { on };
		return { on, id: route.id, prompt: this.ledger.find(route.id)?.prompt };
	}

	private work(
		request: ServiceRequest,
		route: Route,
		now: number,
		action: FaultAction | null,
		record: RequestRecord,
	): Reply {
		try {
			const caller = request.caller ?? authenticate(this.accounts, request.headers.authorization);
			if (route.on !== 'create') return this.read(caller, request, route, now, record);
			const body = parseBody(request.body);
			const create = () => createGeneration(this.workshop, caller, route.type, body, now, action);
			const { made, charged } = createOnce(this.workshop, caller, request.headers, create);
			record.generationId = made.id;
			// The URL of a repeated request can have expired.
			refreshUrl(this.workshop, made, now);
			const changed = (one: Generation) => this.ledger.changed(one);
			if (charged > 0) void fetchInputs(made, this.fetching, this.clock, changed);
			const { balance, name } = caller.account;
			const happened = `charged ${charged}, ${name} has ${balance} left`;
			// A new generation is pending, also if it ends immediately (spec 3).
			const entry = charged > 0 ? entryAt(made, now, 'pending') : entryAt(made, now);
			return { ...answer(200, entry, happened), charged };
		} catch (error) {
			return refusalFrom(error);
		}
	}

	/**
	 * Returns the response to a delayed request. If its key was revoked in the meantime, the request fails (spec 5.5)
	 * and the generation that it created is removed, because a 401 means that nothing was charged. A connected app has no
	 * key.
	 */
	late(request: ServiceRequest, reply: Reply): Reply {
		if (request.caller?.connection) return reply;
		if (reply.status !== 200 || reply.record?.fault === 'respond') return reply;
		try {
			authenticate(this.accounts, request.headers.authorization);
			return reply;
		} catch (error) {
			const { record } = reply;
			const refusal = refusalFrom(error);
			if (record) record.status = refusal.status;
			if (record && reply.charged) this.ledger.undo(record.generationId);
			return { ...refusal, record };
		}
	}

	private read(
		caller: Caller,
		request: ServiceRequest,
		route: Exclude<Route, { on: 'create' }>,
		now: number,
		record: RequestRecord,
	): Reply {
		if (route.on === 'status') return this.status(caller, route.id, now, record);
		if (route.on === 'models') {
			return modelsReply(request.query?.type ?? 'all', this.workshop.timeScale);
		}
		if (route.on === 'other') throw new ServiceError('not_found');
		if (route.view === 'balance') return answer(200, creditBalance(caller.account), '');
		return answer(200, creditSummary(caller.account, this.ledger.all, now), '');
	}

	/** Handles a status request (spec 4.3). Another account's generation is treated as unknown. */
	private status(caller: Caller, id: string, now: number, record: RequestRecord): Reply {
		const generation = this.ledger.find(id);
		if (!generation || generation.caller.account !== caller.account) {
			throw new ServiceError('generation_not_found', `Generation not found: ${id}.`, 'id');
		}
		record.generationId = id;
		refreshUrl(this.workshop, generation, now);
		const entry = entryAt(generation, now);
		const refund = generation.refunded > 0 ? `, refunded ${generation.refunded}` : '';
		return answer(200, entry, `${entry.status}${refund}`);
	}

	/** Sets how many of the account's slots other origins use (spec 8.1). Throws if the account is unknown. */
	occupy(account: string, count: number): void {
		this.accounts.account(account).occupied = count;
	}

	/** Refunds the generations that have failed by now. Call this before reading or setting balances. */
	settle(): void {
		this.ledger.settle(this.clock.now());
	}

	/** Returns the number of an account's generations in progress, including those started elsewhere. */
	runningOf(account: string): number {
		this.settle();
		return this.ledger.runningOf(this.accounts.account(account));
	}

	/** Ends a running generation now: as failed if a reason is given, otherwise as completed. */
	finish(id: string, failReason?: string): void {
		const now = this.clock.now();
		const generation = this.ledger.find(id);
		if (!generation || now >= generation.finishAt) {
			throw new Error(`No generation "${id}" is running.`);
		}
		generation.failure = failReason === undefined ? null : { reason: failReason, asText: false };
		generation.finishAt = now;
		this.ledger.changed(generation);
		this.ledger.settle(now);
	}

	/** Returns a valid presigned URL of the generation's output, or undefined if the id is unknown. */
	outputUrl(id: string): string | undefined {
		const generation = this.ledger.find(id);
		if (generation) refreshUrl(this.workshop, generation, this.clock.now());
		return generation?.url;
	}

	/** Resets accounts, connected apps, balances, books, requests, faults and the seed. */
	reset(): void {
		this.accounts.reset();
		this.apps.clear();
		this.faults.clear();
		this.requests.clear();
		this.misses.clear();
		this.ledger.clear();
		this.workshop.rejections.clear();
		this.workshop.repeats?.clear();
		this.random = seededRandom(this.seed);
	}
}
