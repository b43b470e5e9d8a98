import { seededRandom } from '../../../sandbox/basics/random';
import { GenerationService } from '../../../sandbox/service';
import { MemoryTable } from '../../support/memory-table';
import { VirtualTime } from '../../support/virtual-time';
import type { Clock, ServiceRequest, ServiceResponse } from '../../../client/ports';
import { brokenDownload } from './faults';
import { MarkedPrompt, markIn } from './marked-prompt';
import { Names } from './names';
import { isInterrupted, type KeyedSchedule, type Planned } from './keyed-schedule';
import { unharmed, type Sabotage } from './sabotage';

/** Maximum time from the moment when the row says that the request was sent until the service receives it. */
const LATEST_MS = 5_000;

/** Returns the body of the creating request for a key. Otherwise all requests are equal, so that nothing else tells them apart. */
export function bodyOf(key: number) {
	return { model: 'aurora-image-1', prompt: new MarkedPrompt('a boat', key) };
}

/** State that is shared by all executions: the time, the service and its records, and the table. */
export class KeyedWorld {
	readonly time = new VirtualTime();
	readonly table: MemoryTable;
	readonly service: GenerationService;
	readonly random: () => number;
	/** The keys of the items that have one. */
	readonly keys: number[];
	/** Keys with a request whose result may be unknown. */
	readonly unsure = new Set<number>();
	/** Keys whose request was sent by a paused process: others cannot know its result until the process resumes. */
	readonly doubtful = new Set<number>();
	/** Keys for which the user has written an id that does not exist. */
	readonly misled = new Set<number>();
	/** Keys of which the user has freed a row. */
	readonly freed = new Set<number>();
	/** Keys of which the user has copied a row. */
	readonly copied = new Set<number>();
	/** How many more generations of a key the user's edits allow. */
	private readonly permits = new Map<number, number>();
	/** The machine of all processes. The service and the database do not sleep with it. */
	readonly machine = { wakesAt: 0 };
	/** Nothing fails any more. */
	calm = false;
	/**
	 * Executions so far, those killed, timed out, and paused, edits by hand, generations whose answer was lost, broken
	 * downloads, and second calls.
	 */
	executions = 0;
	deaths = 0;
	timeouts = 0;
	pauses = 0;
	deeds = 0;
	lost = 0;
	brokenDownloads = 0;
	secondCalls = 0;
	private readonly names = new Names();
	/** The key that each generation was created for, by its id. */
	private readonly keyOf = new Map<string, number>();
	/** The plan of the execution that created each generation, by its id. */
	private readonly makers = new Map<string, Planned>();
	private end: () => void = () => undefined;
	/** Resolves when a promise is broken. */
	readonly broken = new Promise<null>((resolve) => (this.end = () => resolve(null)));
	private readonly replaced = new Set<string>();
	private violation: Error | null = null;
	private readonly trace: string[] = [];
	private readonly authorization: string;

	constructor(
		readonly schedule: KeyedSchedule,
		readonly sabotage: Sabotage = unharmed,
	) {
		this.random = seededRandom(schedule.seed);
		this.keys = schedule.keys.filter((key) => key !== null);
		const clock = clockAhead(this.time, schedule.databaseOffMs);
		this.table = new MemoryTable(clock, schedule.reusesIds);
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

	/** Lets the service handle a request. */
	handle({ method, path, body, headers }: ServiceRequest): ServiceResponse {
		const creates = method === 'POST';
		if (creates && this.chance(this.schedule.fails)) {
			this.service.faults.order({ on: 'create', action: { kind: 'fail' } });
		}
		const sent = { ...lowerCase(headers), authorization: this.authorization };
		const { status, body: answer } = this.service.handle({ method, path, body, headers: sent });
		this.service.faults.clear();
		const { id } = answer as { id?: string };
		if (creates && id !== undefined) this.keyOf.set(id, markIn(body));
		return { status, body: answer };
	}

	/** Downloads the output of an item. */
	async download(item: number, clock: Clock): Promise<void> {
		const { breaks, keys } = this.schedule;
		if (!breaks || this.calm || item !== breaks.item % keys.length) return;
		await clock.sleep(breaks.afterMs);
		this.brokenDownloads++;
		throw brokenDownload();
	}

	/** Judges a creating request that is sent for a key. If a user has edited rows, its failures may be unknown. */
	judgeName(key: number, headers: Record<string, string> | undefined): void {
		if (this.deeds > 0) return;
		const made = [...this.keyOf.values()].filter((one) => one === key).length;
		const broken = this.names.judge(key, headers, made - this.live(key).length);
		if (broken !== null) this.blame(broken);
	}

	/** Judges a creating request that made a generation for a key that may have been charged before. */
	judgeCharge(key: number, id: string, maker: Planned): void {
		this.makers.set(id, maker);
		const others = this.live(key).filter((other) => other !== id && !this.replaced.has(other));
		// The user accepts the risk for what others cannot know.
		const excused = maker.onUncertainCharge === 'resubmit' && this.isUncertain(key);
		const durable = this.durable(key, LATEST_MS);
		const isKnown = (other: string) => durable.includes(other) || this.mustBeKnown(other);
		const doubles = others.filter((other) => !excused || isKnown(other));
		if (excused) others.forEach((other) => this.replaced.add(other));
		// The user entered the ID of the lost generation while this request was in flight. If its process dies now, no row
		// shows it.
		const justEntered = this.durable(key).some((other) => !durable.includes(other));
		if (excused && justEntered) this.permit(key);
		this.tell(`the service makes ${id.slice(0, 4)} for key ${key}`);
		if (doubles.length > (this.permits.get(key) ?? 0)) {
			this.blame(`Key ${key} is paid besides ${doubles[0].slice(0, 4)}`);
		}
	}

	/** Whether the result of a request may legitimately be unknown. */
	isUncertain(key: number): boolean {
		return this.unsure.has(key) || this.doubtful.has(key);
	}

	/** What happened, to check that a schedule was not free of failures. */
	get counts(): Record<string, number> {
		const { executions, deaths, timeouts, pauses, deeds, lost, brokenDownloads, secondCalls } =
			this;
		const { created, failed } = this.service.books.totals;
		const unkeyed = [...this.keyOf.values()].filter((key) => !this.keys.includes(key)).length;
		return {
			...{ executions, deaths, timeouts, pauses, deeds, secondCalls, brokenDownloads },
			...{ requests: this.service.requests.all.length, generations: created, unkeyed, lost },
			refunded: failed,
		};
	}

	/** Whether every request and every table call was answered. */
	get isUndisturbed(): boolean {
		const { deaths, pauses, timeouts, deeds, lost, schedule } = this;
		return deaths + pauses + timeouts + deeds + lost + schedule.tableFails === 0;
	}

	/** Whether nothing has kept other executions from knowing of a generation, not even for a moment. */
	private mustBeKnown(id: string): boolean {
		const { lost, sleep, tableFails } = this.schedule;
		const isQuiet = sleep === null && lost + tableFails + this.deeds === 0;
		return isQuiet && !isInterrupted(this.makers.get(id) as Planned);
	}

	/** Allows one more generation of the key, because of the user's edits. */
	permit(key: number): void {
		this.permits.set(key, (this.permits.get(key) ?? 0) + 1);
	}

	/** Returns the ids of generations of a key that were charged and not refunded. */
	live(key: number): string[] {
		return this.service.books.generations
			.filter(({ id, charged, refunded }) => this.keyOf.get(id) === key && charged > refunded)
			.map(({ id }) => id);
	}

	/** Returns those that have been in the table for at least this many milliseconds. */
	durable(key: number, forMs = 0): string[] {
		const { rows, recordedAt } = this.table;
		const since = this.time.now() + this.schedule.databaseOffMs - forMs;
		const ids = rows
			.filter((row) => row.key === String(key) && row.status !== 'failed')
			.map((row) => row.generation_id?.trim());
		return this.live(key).filter((id) => ids.includes(id) && Number(recordedAt.get(id)) <= since);
	}

	/** Keys whose rows say that a writer sends their request. */
	keysSentBy(writer: string): number[] {
		return this.table.rows
			.filter((row) => row.writer.startsWith(writer) && row.status.startsWith('sent'))
			.filter((row) => row.key && !row.generation_id)
			.map(({ key }) => Number(key));
	}

	tell(line: string): void {
		this.trace.push(`${(this.time.now() % 1e7) / 1000} s  ${line}`);
	}

	/** Notes that a promise was broken. An exception within a request would be taken for a connection error. */
	blame(violation: string): void {
		this.violation ??= this.failure(violation);
		this.end();
	}

	/** @throws Error with the whole trace if a promise was broken */
	assertKept(): void {
		if (this.violation) throw this.violation;
	}

	failure(violation: string): Error {
		return new Error(`${violation}\n\n${this.trace.join('\n')}\n`);
	}
}

function clockAhead(time: VirtualTime, ms: number): Clock {
	return { now: () => time.now() + ms, sleep: async (...args) => await time.sleep(...args) };
}

function lowerCase(headers: Record<string, string> = {}): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
	);
}
