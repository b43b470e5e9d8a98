import { seededRandom } from '../../../sandbox/basics/random';
import { GenerationService } from '../../../sandbox/service';
import { MemoryTable } from '../../support/memory-table';
import { VirtualTime } from '../../support/virtual-time';
import type { ServiceRequest, ServiceResponse } from '../../../client/basics/ports';
import { Names } from './names';
import type { KeyedSchedule } from './keyed-schedule';

/** What lasts over all executions: the time, the service and its books, and the table. */
export class KeyedWorld {
	readonly time = new VirtualTime();
	readonly table: MemoryTable;
	readonly service: GenerationService;
	readonly random: () => number;
	/** Keys of which somebody cannot know what came of a request. */
	readonly unsure = new Set<number>();
	/** Nothing fails any more. */
	calm = false;
	/** Executions so far, those that were killed, requests, and generations whose answer was lost. */
	executions = 0;
	deaths = 0;
	lost = 0;
	private readonly names = new Names();
	private readonly replaced = new Set<string>();
	private violation: Error | null = null;
	private readonly trace: string[] = [];
	private readonly authorization: string;

	constructor(readonly schedule: KeyedSchedule) {
		this.random = seededRandom(schedule.seed);
		this.table = new MemoryTable(this.time, schedule.reusesIds);
		this.service = new GenerationService({
			clock: this.time,
			generationSeconds: schedule.seconds,
			seed: schedule.seed,
		});
		this.service.accounts.account('main').concurrency = schedule.concurrency;
		this.authorization = `Bearer ${this.service.accounts.keyOf('main').key}`;
	}

	chance(likelihood: number): boolean {
		return !this.calm && this.random() < likelihood;
	}

	/** The service at work on a request. */
	handle({ method, path, body, headers }: ServiceRequest): ServiceResponse {
		const creates = method === 'POST';
		if (creates && this.chance(this.schedule.fails)) {
			this.service.faults.order({ on: 'create', action: { kind: 'fail' } });
		}
		const sent = { ...lowerCase(headers), authorization: this.authorization };
		const { status, body: answer } = this.service.handle({ method, path, body, headers: sent });
		this.service.faults.clear();
		return { status, body: answer };
	}

	/** A creating request leaves for a key. */
	judgeName(key: number, headers: Record<string, string> | undefined): void {
		const made = this.service.books.generations.filter(({ prompt }) => prompt === promptOf(key));
		const broken = this.names.judge(key, headers, made.length - this.live(key).length);
		if (broken !== null) this.blame(broken);
	}

	/** A creating request leaves for a key that may have been paid already. */
	judgeCharge(key: number, id: string, resubmits: boolean): void {
		const others = this.live(key).filter((other) => other !== id && !this.replaced.has(other));
		const durable = this.durable(key);
		const double = others.find((other) => !resubmits || durable.includes(other));
		// The user has taken the risk for those that were lost.
		if (resubmits) others.forEach((other) => this.replaced.add(other));
		this.tell(`the service makes ${id.slice(0, 4)} for key ${key}`);
		if (double) this.blame(`Key ${key} is paid besides ${double.slice(0, 4)}`);
	}

	/** Ids of what is paid for a key and not refunded. */
	live(key: number): string[] {
		return this.service.books.generations
			.filter(({ prompt, charged, refunded }) => prompt === promptOf(key) && charged > refunded)
			.map(({ id }) => id);
	}

	/** Those of them that are on record. */
	durable(key: number): string[] {
		const ids = this.table.rows.map(({ generation_id: id }) => id);
		return this.live(key).filter((id) => ids.includes(id));
	}

	tell(line: string): void {
		this.trace.push(`${(this.time.now() % 1e7) / 1000} s  ${line}`);
	}

	/** Notes that a promise was broken: whoever is told of it within a request takes it for trouble of the connection. */
	blame(violation: string): void {
		this.violation ??= this.failure(violation);
	}

	/** @throws Error with the whole story, where a promise was broken */
	assertKept(): void {
		if (this.violation) throw this.violation;
	}

	failure(violation: string): Error {
		return new Error(`${violation}\n\n${this.trace.join('\n')}\n`);
	}
}

/** Every item of a key has one prompt. */
export function promptOf(key: number): string {
	return `for key ${key}`;
}

function lowerCase(headers: Record<string, string> = {}): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
	);
}
