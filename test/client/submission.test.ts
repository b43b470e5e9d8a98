import { CancelledError, GenerationError } from '../../client/errors';
import type { Generation } from '../../client/generation';
import type { Job } from '../../client/job';
import { Ledger } from '../../client/ledger';
import { GenerationService } from '../../client/service';
import { Submission, type Obtained } from '../../client/submission';
import { networkError, refusal } from '../support/answers';
import { answerLost, FakeService, refused, unreachable } from '../support/fake-service';
import { creating, type JobChanges } from '../support/step';
import { VirtualTime } from '../support/virtual-time';

/** A fault of ours that strikes after the request has gone out. */
class BrokenService extends GenerationService {
	override async create(
		...[request, signal, each = async (send) => await send()]: Parameters<
			GenerationService['create']
		>
	): Promise<Generation> {
		return await super.create(request, signal, async (send) => {
			return await each(async () => {
				await send();
				throw new TypeError('A mistake of ours');
			});
		});
	}
}

/** A submission over a service, and what n8n keeps of it. */
class Desk {
	readonly time = new VirtualTime();
	readonly fake = new FakeService(this.time);
	readonly halt = new AbortController();
	readonly ledger = new Ledger({}, 0);
	readonly submission: Submission;

	constructor(Service = GenerationService) {
		const ports = { clock: this.time, random: () => 0 };
		const { signal } = new AbortController();
		const service = new Service({ ...ports, send: this.fake.send, signal });
		this.submission = new Submission({
			...ports,
			service,
			ledger: this.ledger,
			halt: this.halt.signal,
		});
	}

	/** Takes a prompt to its generation. */
	async obtain(prompt: string, changes: JobChanges = {}): Promise<Obtained> {
		return await this.time.run(this.obtaining(prompt, changes));
	}

	async obtaining(prompt: string, changes: JobChanges = {}, itemIndex = 0): Promise<Obtained> {
		const job: Job = creating(prompt, itemIndex, changes);
		return await this.submission.obtain(job, await requestOf(job), await this.key(job));
	}

	async refusalOf(prompt: string, changes: JobChanges = {}): Promise<GenerationError> {
		const thrown: unknown = await this.obtain(prompt, changes).catch((error: unknown) => error);
		if (thrown instanceof GenerationError) return thrown;
		throw new Error(`No GenerationError: ${String(thrown)}`);
	}

	async entry(prompt: string) {
		return this.ledger.find(await this.key(creating(prompt)));
	}

	private async key(job: Job): Promise<string> {
		return this.ledger.key(job.itemIndex, await requestOf(job));
	}
}

async function requestOf({ request }: Job) {
	if (!request) throw new Error('No request');
	return await request();
}

const resubmit = { onUncertainCharge: 'resubmit' } as const;

describe('a creating request', () => {
	it('is written down as intended before it leaves, and with its id straight after', async () => {
		const desk = new Desk();
		let whileUnderWay: unknown = null;
		const key = desk.ledger.key(0, await requestOf(creating('cat')));
		desk.fake.order('cat', (make) => {
			whileUnderWay = { ...desk.ledger.find(key) };
			return make();
		});
		const { generation, takenUp } = await desk.obtain('cat');
		expect(whileUnderWay).toEqual({});
		expect([generation.item.id, takenUp]).toEqual(['generation-1', false]);
		expect(desk.ledger.find(key)).toEqual({ id: 'generation-1', status: 'pending' });
		expect(desk.submission.stats).toEqual({ made: 1, takenUp: 0 });
	});

	it.each([
		['a refusal', refused(422, 'unsupported_parameter')],
		['a lack of credits', refused(402, 'insufficient_credits')],
		['a redirect', () => ({ status: 301, body: '' })],
	])('that came to %s leaves nothing in the ledger', async (_, script) => {
		const desk = new Desk();
		desk.fake.order('cat', script);
		expect((await desk.refusalOf('cat')).charge).toBe('none');
		expect(await desk.entry('cat')).toBeUndefined();
	});

	it('that never reached the service leaves nothing in the ledger', async () => {
		const desk = new Desk();
		desk.fake.order('cat', ...Array.from({ length: 7 }, () => unreachable));
		expect((await desk.refusalOf('cat')).code).toBe('connection_failed');
		expect(await desk.entry('cat')).toBeUndefined();
	});

	it('is sent again where it was certainly not charged, and made once', async () => {
		const desk = new Desk();
		desk.fake.order('cat', unreachable, refused(503, 'service_unavailable'));
		await desk.obtain('cat');
		expect([desk.fake.creating.length, desk.fake.made.length]).toEqual([3, 1]);
	});

	it('is not sent, nor intended, once the step has ended', async () => {
		const desk = new Desk();
		desk.halt.abort();
		await expect(desk.obtain('cat')).rejects.toBeInstanceOf(CancelledError);
		expect([desk.fake.seen.length, await desk.entry('cat')]).toEqual([0, undefined]);
	});

	it('that the step gives up between two tries leaves nothing in the ledger', async () => {
		const desk = new Desk();
		desk.fake.order('cat', unreachable);
		desk.time.at(desk.time.now() + 500, () => desk.halt.abort());
		await expect(desk.obtain('cat')).rejects.toBeInstanceOf(CancelledError);
		expect([desk.fake.creating.length, await desk.entry('cat')]).toEqual([1, undefined]);
	});

	it('stays open after a mistake of ours: only a certain "not charged" takes it back', async () => {
		const desk = new Desk(BrokenService);
		const error = await desk.refusalOf('cat');
		expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
		expect(error.description).toContain('A mistake of ours');
		expect(await desk.entry('cat')).toEqual({});
	});
});

describe('a request whose answer was lost', () => {
	it('is an error, stays open, and is not sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		expect(await desk.refusalOf('cat')).toMatchObject({
			code: 'uncertain_charge',
			charge: 'unknown',
		});
		expect(await desk.entry('cat')).toEqual({});
		expect(desk.fake.creating).toHaveLength(1);
	});

	it('is not sent by a later try either, nor is anything asked', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		await desk.refusalOf('cat');
		const again = await desk.refusalOf('cat');
		expect(again).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
		expect(again.description).toContain('earlier try');
		expect(desk.fake.seen).toHaveLength(1);
	});

	it.each([
		['a 5xx of something on the way', () => ({ status: 504, body: '' })],
		['an answer that cannot be read', () => ({ status: 200, body: '<html>' })],
		[
			'a timeout',
			() => {
				throw networkError('ECONNABORTED');
			},
		],
	])('is one with %s', async (_, script) => {
		const desk = new Desk();
		desk.fake.order('cat', script);
		expect((await desk.refusalOf('cat')).code).toBe('uncertain_charge');
		expect(await desk.entry('cat')).toEqual({});
	});

	it('is sent again where the user takes the risk, after a pause', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		const { generation } = await desk.obtain('cat', resubmit);
		const [first, second] = desk.fake.creating;
		expect(second.at - first.at).toBe(1000);
		expect(await desk.entry('cat')).toEqual({ id: generation.item.id, status: 'pending' });
	});

	it('is sent again by a later try where the user takes the risk then', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		await desk.refusalOf('cat');
		expect((await desk.obtain('cat', resubmit)).generation.item.id).toBe('generation-2');
	});

	it('is sent three more times at most', async () => {
		const desk = new Desk();
		desk.fake.order('cat', ...Array.from({ length: 9 }, () => answerLost));
		expect((await desk.refusalOf('cat', resubmit)).code).toBe('uncertain_charge');
		expect(desk.fake.creating).toHaveLength(4);
		expect(await desk.entry('cat')).toEqual({});
	});

	it('stays uncertain where it is refused when sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost, refused(402, 'insufficient_credits'));
		const error = await desk.refusalOf('cat', resubmit);
		expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown', status: 402 });
		expect(error.description).toContain('Not enough credits');
		expect(await desk.entry('cat')).toEqual({});
	});

	it('stays uncertain where the step ends before it is sent again', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		desk.time.at(desk.time.now() + 500, () => desk.halt.abort());
		const error = await desk.refusalOf('cat', resubmit);
		expect(error.charge).toBe('unknown');
		expect(error.description).toContain('The connection broke');
		expect(desk.fake.creating).toHaveLength(1);
		expect(await desk.entry('cat')).toEqual({});
	});

	it('stays uncertain where another item closes the way meanwhile', async () => {
		const desk = new Desk();
		desk.fake.order('cat', answerLost);
		desk.fake.order('dog', refused(401, 'expired_api_key'));
		const both = Promise.allSettled([
			desk.obtaining('cat', resubmit, 0),
			desk.obtaining('dog', resubmit, 1),
		]);
		const [cat, dog] = await desk.time.run(both);
		expect(cat).toMatchObject({ reason: { code: 'uncertain_charge', charge: 'unknown' } });
		expect(dog).toMatchObject({ reason: { code: 'expired_api_key', charge: 'none' } });
		expect(desk.fake.creating).toHaveLength(2);
	});
});

describe('a generation that an earlier try has made', () => {
	it.each([
		['processing', 1000],
		['completed', 20_000],
	])('is taken up: it was %s', async (status, age) => {
		const desk = new Desk();
		await desk.obtain('cat');
		await desk.time.run(desk.time.sleep(age));
		const { generation, takenUp } = await desk.obtain('cat');
		expect([generation.item.id, takenUp]).toEqual(['generation-1', true]);
		expect(desk.fake.creating).toHaveLength(1);
		expect(desk.fake.looksAt('generation-1')).toHaveLength(1);
		expect(generation.item.status).toBe(status);
		expect(await desk.entry('cat')).toEqual({ id: 'generation-1', status });
		expect(desk.submission.stats).toEqual({ made: 1, takenUp: 1 });
	});

	it('and that has failed since is made anew', async () => {
		const desk = new Desk();
		desk.fake.failure = () => (desk.fake.made.length < 1 ? 'out of paint' : undefined);
		await desk.obtain('cat');
		await desk.time.run(desk.time.sleep(20_000));
		const { generation, takenUp } = await desk.obtain('cat');
		expect([generation.item.id, takenUp]).toEqual(['generation-2', false]);
		expect(await desk.entry('cat')).toEqual({ id: 'generation-2', status: 'pending' });
		expect(desk.submission.stats).toEqual({ made: 2, takenUp: 0 });
	});

	it('and that was seen to fail is made anew without asking', async () => {
		const desk = new Desk();
		desk.fake.failure = () => 'out of paint';
		const { generation } = await desk.obtain('cat');
		const failed = { ...generation, item: { ...generation.item, status: 'failed' } };
		desk.ledger.record(desk.ledger.key(0, await requestOf(creating('cat'))), failed);
		expect((await desk.obtain('cat')).generation.item.id).toBe('generation-2');
		expect(desk.fake.looksAt('generation-1')).toEqual([]);
	});

	it('is none of a changed request, which is a new one', async () => {
		const desk = new Desk();
		await desk.obtain('cat');
		expect((await desk.obtain('dog')).takenUp).toBe(false);
		expect(desk.fake.made).toHaveLength(2);
	});

	it('is never made a second time because it cannot be looked at', async () => {
		const desk = new Desk();
		await desk.obtain('cat');
		desk.fake.orderLooks(() => refusal(403, 'forbidden'));
		expect(await desk.refusalOf('cat')).toMatchObject({
			code: 'forbidden',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(await desk.entry('cat')).toEqual({ id: 'generation-1', status: 'pending' });
		expect(desk.fake.creating).toHaveLength(1);
	});
});

describe('a refusal that every further request would meet', () => {
	it.each([
		[401, 'authentication_error'],
		[402, 'insufficient_credits'],
		[403, 'insufficient_credits'],
		[403, 'forbidden'],
		[403, 'CONNECTION_PAUSED'],
		[429, 'CONNECTION_LIMIT_REACHED'],
	])('ends all submitting: %i %s', async (status, code) => {
		const desk = new Desk();
		desk.fake.order('cat', refused(status, code));
		expect((await desk.refusalOf('cat')).code).toBe(code);
		const error = await desk.refusalOf('dog');
		expect(error).toMatchObject({ code, status, charge: 'none' });
		expect(error.message).toMatch(/^Not sent: .* \(item 0\)$/);
		expect(desk.fake.creating).toHaveLength(1);
		expect(await desk.entry('dog')).toBeUndefined();
	});

	it('does not keep what is paid for from being taken up', async () => {
		const desk = new Desk();
		await desk.obtain('cat');
		desk.fake.order('dog', refused(402, 'insufficient_credits'));
		await desk.refusalOf('dog');
		expect((await desk.obtain('cat')).takenUp).toBe(true);
	});

	it.each([
		[400, 'invalid_parameter'],
		[404, 'model_not_found'],
		[413, 'payload_too_large'],
		[422, 'unsupported_parameter'],
	])('is none of an item’s own: %i %s', async (status, code) => {
		const desk = new Desk();
		desk.fake.order('cat', refused(status, code));
		await desk.refusalOf('cat');
		expect((await desk.obtain('dog')).generation.item.id).toBe('generation-1');
	});
});

describe('a request that finds no slot', () => {
	it('waits for one, whatever its retry rules', async () => {
		const desk = new Desk();
		desk.fake.slots = 1;
		await desk.obtain('cat');
		expect((await desk.obtain('dog')).generation.item.id).toBe('generation-2');
		expect(desk.fake.peak).toBe(1);
	});

	it('leaves nothing in the ledger where it gives up', async () => {
		const desk = new Desk();
		desk.fake.slots = 0;
		const error = await desk.refusalOf('dog', { timeoutMs: 5000 });
		expect(error).toMatchObject({ code: 'CONCURRENCY_LIMIT_REACHED', charge: 'none' });
		expect(await desk.entry('dog')).toBeUndefined();
	});
});
