import { GenerationError } from '../../client/api/errors';
import { Journal } from '../../client/orders/journal';
import { ServiceClient } from '../../client/api/client';
import { SlotPool } from '../../client/orders/slot-pool';
import { Submission } from '../../client/orders/submission';
import { SpendGuard } from '../../client/spend-guard';
import type { Generation } from '../../client/api/generation';
import { FakeService } from './fake-service';
import { creating, type CreateChanges } from './step';
import { VirtualTime } from './virtual-time';

/** A submission with a fake service, and the journal that n8n stores for it. */
export class Desk {
	readonly time = new VirtualTime();
	readonly fake = new FakeService(this.time);
	readonly halt = new AbortController();
	readonly journal = new Journal({}, 0);
	readonly submission: Submission;

	constructor(Service = ServiceClient) {
		const ports = { clock: this.time, random: () => 0 };
		const { signal } = new AbortController();
		const service = new Service({ ...ports, send: this.fake.send, signal });
		this.submission = new Submission({
			...ports,
			service,
			journal: this.journal,
			halt: this.halt.signal,
			slots: new SlotPool(ports),
			guard: new SpendGuard({}, { clock: this.time, service }),
		});
	}

	/** Submits a prompt in virtual time and returns its generation. */
	async obtain(prompt: string, changes: CreateChanges = {}): Promise<Generation> {
		return await this.time.run(this.obtaining(prompt, changes));
	}

	async obtaining(prompt: string, changes: CreateChanges = {}, itemIndex = 0): Promise<Generation> {
		const job = creating(prompt, itemIndex, changes);
		const request = await job.request();
		const order = this.journal.order(job, request);
		const earlier = await this.submission.earlier(order);
		if (earlier !== null) throw new Error(`There is one: ${earlier}`);
		return (await this.submission.create(order, request)) as Generation;
	}

	async refusalOf(prompt: string, changes: CreateChanges = {}): Promise<GenerationError> {
		const thrown: unknown = await this.obtain(prompt, changes).catch((error: unknown) => error);
		if (thrown instanceof GenerationError) return thrown;
		throw new Error(`No GenerationError: ${String(thrown)}`);
	}

	async entry(prompt: string) {
		const job = creating(prompt);
		return this.journal.known(this.journal.order(job, await job.request()));
	}
}
