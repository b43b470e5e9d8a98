import { GenerationError } from '../../client/wire/errors';
import type { Job } from '../../client/jobs/job';
import { Ledger } from '../../client/paying/ledger';
import { GenerationService } from '../../client/wire/service';
import { Submission, type Obtained } from '../../client/paying/submission';
import { FakeService } from './fake-service';
import { creating, type JobChanges } from './step';
import { VirtualTime } from './virtual-time';

/** A submission over a service, and what n8n keeps of it. */
export class Desk {
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

export async function requestOf({ request }: Job) {
	if (!request) throw new Error('No request');
	return await request();
}
