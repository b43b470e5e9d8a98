import type {
	Probed,
	ProbeUrl,
	SendRequest,
	ServiceRequest,
	ServiceResponse,
} from '../../client/ports';
import { answer, networkError, noSlot, refusal, wireGeneration } from './answers';
import type { VirtualTime } from './virtual-time';

/** A request as the service saw it. */
export interface Seen extends ServiceRequest {
	at: number;
	/** The prompt of a creating request. */
	prompt?: string;
}

/** A generation that the service has made and charged. */
export interface Made {
	id: string;
	prompt: string;
	startedAt: number;
	endsAt: number;
	/** Why it fails at its end, if it does. */
	failure: string | undefined;
}

/** How one creating request is answered; `make` is what would have happened without it. */
export type Script = (make: () => ServiceResponse) => ServiceResponse;

/** How one status request is answered; `undefined` answers as it would have been. */
export type Look = () => ServiceResponse | Promise<ServiceResponse> | undefined;

/** Nobody ever answers. */
export const hanging = async () => await new Promise<never>(() => undefined);

/** Nothing arrives at the service. */
export const unreachable: Script = () => {
	throw networkError('ECONNREFUSED', 'connect');
};

/** The work is done, and the answer is lost. */
export const answerLost: Script = (make) => {
	make();
	throw networkError('ECONNRESET');
};

/** Refused with the service's own body. */
export function refused(status: number, code: string): Script {
	return () => refusal(status, code);
}

/**
 * The service's side of the request port, in virtual time: just enough of it to see what a rule of the client does to
 * a service, and exactly when.
 */
export class FakeService {
	readonly seen: Seen[] = [];
	readonly made: Made[] = [];
	/** The most that ran at once, those of others not counted. */
	peak = 0;

	/** Generations that the plan allows at once. */
	slots = Infinity;
	/** How long an answer takes; the work is done at once. */
	latencyMs = 0;
	/** How long a generation takes. */
	durationMs: (prompt: string) => number = () => 10_000;
	/** Why the generation of a prompt fails, if it does. */
	failure: (prompt: string) => string | undefined = () => undefined;
	/** What the model has made of a prompt, told once it is done. */
	revisedPrompt: (prompt: string) => string | undefined = () => undefined;
	/** How many slots others of the account hold. */
	others: () => number = () => 0;

	/** Responses to requests of any kind; the last one is repeated. Where there are none, the service does its work. */
	replies: Array<ServiceResponse | Error> = [];

	private readonly scripts = new Map<string, Script[]>();
	private readonly looks: Look[] = [];

	constructor(private readonly time: VirtualTime) {}

	/** Orders how the next creating requests for a prompt are answered; after those all goes well. */
	order(prompt: string, ...scripts: Script[]): void {
		this.scripts.set(prompt, [...(this.scripts.get(prompt) ?? []), ...scripts]);
	}

	/** Orders the answers to the next status requests. */
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

	/** What the storage says of a generation that has ended, and of one that has not. */
	storage: (made: Made, written: boolean) => Probed | Promise<Probed> = (_, written) => ({
		status: written ? 206 : 404,
		oneByte: written,
	});

	/** Every probe: of what, and when. */
	readonly probed: Array<{ id: string; url: string; at: number }> = [];

	/** The URL in an answer given now, where it is not the usual one, which lives for an hour. */
	url: (id: string) => string | undefined = () => undefined;

	readonly probe: ProbeUrl = async (url) => {
		const made = this.made.find(({ id }) => url.includes(`/${id}.`)) as Made;
		this.probed.push({ id: made.id, url, at: this.time.now() });
		const written = made.endsAt <= this.time.now() && made.failure === undefined;
		const said = await this.storage(made, written);
		await this.time.sleep(this.latencyMs);
		return said;
	};

	/** The creating requests it has seen. */
	get creating(): Seen[] {
		return this.seen.filter(({ method }) => method === 'POST');
	}

	/** The status requests it has seen for a generation. */
	looksAt(id: string): Seen[] {
		return this.seen.filter(({ path }) => path === `/v1/generations/${id}`);
	}

	/** Those that it runs now. */
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
		if (failure === undefined) {
			const revised_prompt = this.revisedPrompt(made.prompt);
			return answer(wireGeneration({ ...known, revised_prompt, status: 'completed' }));
		}
		return answer(wireGeneration({ ...known, status: 'failed', error: { message: failure } }));
	}
}
