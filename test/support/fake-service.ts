import type {
	ProbeResponse,
	ProbeUrl,
	SendRequest,
	ServiceRequest,
	ServiceResponse,
} from '../../client/ports';
import { answer, networkError, noSlot, refusal, wireGeneration, type WireFields } from './answers';
import type { VirtualTime } from './virtual-time';

/** A request as the service received it. */
interface Seen extends ServiceRequest {
	at: number;
	/** The prompt of a creating request. */
	prompt?: string;
}

/** A generation that the service created and charged. */
export interface Made {
	id: string;
	prompt: string;
	startedAt: number;
	endsAt: number;
	/** Why it fails when it ends; `undefined` if it succeeds. */
	failure: string | undefined;
}

/** Responds to one creating request. `make` does what the service would do without the script. */
export type Script = (make: () => ServiceResponse) => ServiceResponse;

/** Responds to one status request. If it returns `undefined`, the service responds as usual. */
export type Look = () => ServiceResponse | Promise<ServiceResponse> | undefined;

/** Returns a promise that never settles: the service never responds. */
export const hanging = async () => await new Promise<never>(() => undefined);

/** The request does not reach the service. */
export const unreachable: Script = () => {
	throw networkError('ECONNREFUSED', 'connect');
};

/** The service creates the generation, but the response is lost. */
export const answerLost: Script = (make) => {
	make();
	throw networkError('ECONNRESET');
};

/** Returns a script that responds with an error in the service's own format. */
export function refused(status: number, code: string): Script {
	return () => refusal(status, code);
}

/**
 * The service behind the request port, in virtual time. It implements just enough to show what the client's rules send
 * to a service, and exactly when.
 */
export class FakeService {
	readonly seen: Seen[] = [];
	readonly made: Made[] = [];
	/** The highest number of generations that ran at the same time, not counting those of `others`. */
	peak = 0;

	/** Maximum number of generations that the plan allows at the same time. */
	slots = Infinity;
	/** Delay before a response is returned. The request itself takes effect immediately. */
	latencyMs = 0;
	/** How long a generation takes. */
	durationMs: (prompt: string) => number = () => 10_000;
	/** Why the generation of a prompt fails; `undefined` if it succeeds. */
	failure: (prompt: string) => string | undefined = () => undefined;
	/** The fields of the status response once the generation of a prompt has ended; by default, as `failure` says. */
	end: (prompt: string) => WireFields | undefined = () => undefined;
	/** The revised prompt, returned once the generation is completed. */
	revisedPrompt: (prompt: string) => string | undefined = () => undefined;
	/** Number of slots that other clients of the account hold. */
	others: () => number = () => 0;

	/** What the account has, and what the generation of a prompt costs. A failed one is refunded when it ends. */
	credits = 100_000;
	price: (prompt: string) => number = () => 0;
	/** The response to a request for the balance. */
	balance: () => ServiceResponse | Promise<ServiceResponse> = () =>
		answer({ object: 'credit_balance', balance: this.credits - this.spent() });

	/** Responses to requests of any kind; the last one is repeated. If empty, the service works as usual. */
	replies: Array<ServiceResponse | Error> = [];

	private readonly scripts = new Map<string, Script[]>();
	private readonly looks: Look[] = [];

	constructor(private readonly time: VirtualTime) {}

	/** Sets the responses to the next creating requests for a prompt. All later ones succeed. */
	order(prompt: string, ...scripts: Script[]): void {
		this.scripts.set(prompt, [...(this.scripts.get(prompt) ?? []), ...scripts]);
	}

	/** Sets the responses to the next status requests. */
	orderLooks(...looks: Look[]): void {
		this.looks.push(...looks);
	}

	readonly send: SendRequest = async (request) => {
		const prompt = (request.body as { prompt?: string } | undefined)?.prompt;
		this.seen.push({ ...request, at: this.time.now(), ...(prompt !== undefined && { prompt }) });
		const handled = this.handled(request, prompt);
		await this.time.sleep(this.latencyMs);
		if ('failure' in handled) throw handled.failure;
		return await handled.response;
	};

	/** The storage's response to a probe. `written` is true once the generation has completed. */
	storage: (made: Made, written: boolean) => ProbeResponse | Promise<ProbeResponse> = (
		_,
		written,
	) => ({
		status: written ? 206 : 404,
		oneByte: written,
	});

	/** All probes: the generation, the URL and the time. */
	readonly probed: Array<{ id: string; url: string; at: number }> = [];

	/** The URL in a response; `undefined` for the default URL, which is valid for an hour. */
	url: (id: string) => string | null | undefined = () => undefined;

	readonly probe: ProbeUrl = async (url) => {
		const made = this.made.find(({ id }) => url.includes(`/${id}.`)) as Made;
		this.probed.push({ id: made.id, url, at: this.time.now() });
		const written = made.endsAt <= this.time.now() && made.failure === undefined;
		const said = await this.storage(made, written);
		await this.time.sleep(this.latencyMs);
		return said;
	};

	/** The creating requests received so far. */
	get creating(): Seen[] {
		return this.seen.filter(({ method }) => method === 'POST');
	}

	/** Returns the status requests received so far for a generation. */
	looksAt(id: string): Seen[] {
		return this.seen.filter(({ path }) => path === `/v1/generations/${id}`);
	}

	/** Credits that were charged and not refunded. */
	spent(): number {
		const now = this.time.now();
		const paid = this.made.filter(({ failure, endsAt }) => failure === undefined || endsAt > now);
		return paid.reduce((sum, { prompt }) => sum + this.price(prompt), 0);
	}

	/** Returns the generations that are running now. */
	running(): Made[] {
		return this.made.filter(({ endsAt }) => endsAt > this.time.now());
	}

	private handled(
		request: ServiceRequest,
		prompt: string | undefined,
	): { response: ServiceResponse | Promise<ServiceResponse> } | { failure: unknown } {
		try {
			return { response: this.answerTo(request, prompt) };
		} catch (failure) {
			return { failure };
		}
	}

	private answerTo(
		{ method, path }: ServiceRequest,
		prompt: string | undefined,
	): ServiceResponse | Promise<ServiceResponse> {
		const [reply] = this.replies.length > 1 ? this.replies.splice(0, 1) : this.replies;
		if (reply instanceof Error) throw reply;
		if (reply) return reply;
		if (method === 'GET') {
			if (path === '/v1/credits/balance') return this.balance();
			return this.looks.shift()?.() ?? this.status(decodeURIComponent(path.split('/')[3]));
		}
		const script = this.scripts.get(prompt ?? '')?.shift();
		const make = () => this.make(prompt ?? '');
		return script ? script(make) : make();
	}

	private make(prompt: string): ServiceResponse {
		const running = this.running().length + this.others();
		if (running >= this.slots) return noSlot(running, this.slots);
		const id = `generation-${this.made.length + 1}`;
		const now = this.time.now();
		this.made.push({
			id,
			prompt,
			startedAt: now,
			endsAt: now + this.durationMs(prompt),
			failure: this.failure(prompt),
		});
		this.peak = Math.max(this.peak, this.running().length);
		return answer(wireGeneration({ id, url: this.url(id) }));
	}

	private status(id: string): ServiceResponse {
		const made = this.made.find((one) => one.id === id);
		if (!made) return refusal(404, 'generation_not_found');
		const { endsAt, failure } = made;
		const known = { id, url: this.url(id) };
		if (endsAt > this.time.now()) return answer(wireGeneration({ ...known, status: 'processing' }));
		const end = this.end(made.prompt);
		if (end) return answer(wireGeneration({ ...known, ...end }));
		if (failure === undefined) {
			const revised_prompt = this.revisedPrompt(made.prompt);
			return answer(wireGeneration({ ...known, revised_prompt, status: 'completed' }));
		}
		return answer(wireGeneration({ ...known, status: 'failed', error: { message: failure } }));
	}
}
