import { toResult } from '../../../client/async';
import type { CreateJob } from '../../../client/jobs/job';
import type { StoredOrder, StoredOrders } from '../../../client/orders/journal';
import type { SlotPool } from '../../../client/orders/slot-pool';
import type { Row } from '../../../client/jobs/row';
import type { CallTable, Change, TableCall } from '../../../client/orders/table';
import type { Outcome } from '../../../client/jobs/outcome';
import type { PipelineSettings } from '../../../client/step/pipeline';
import type {
	Clock,
	ProbeUrl,
	SendRequest,
	ServiceRequest,
	ServiceResponse,
} from '../../../client/ports';
import { breakages } from './faults';

/** Everything through which a simulated step reaches its world. */
export interface StepPorts {
	jobs: CreateJob[];
	settings: PipelineSettings;
	clock: Clock;
	/** The user's Stop. */
	signal: AbortSignal;
	send: SendRequest;
	probe: ProbeUrl;
	slots: SlotPool;
	/** What n8n has kept with the execution. */
	stored: StoredOrders;
	/** The table of keys. A step without keys never calls it. */
	table: CallTable;
	/** Hands the outcomes of the step on. */
	output: (outcomes: Array<Outcome<string>>) => Array<Outcome<string>>;
}

/**
 * Replaces ports of every step of a simulation by broken ones, so that the step breaks a promise and the simulation has
 * to notice.
 */
export type Sabotage = (ports: StepPorts) => Partial<StepPorts>;

/** Replaces nothing. */
export const unharmed: Sabotage = () => ({});

/** Returns the ports of a step after the sabotage. */
export function sabotaged(ports: StepPorts, sabotage: Sabotage): StepPorts {
	return { ...ports, ...sabotage(ports) };
}

/** A broken port, the promise that it makes the step break, and what the schedules that show it have in common. */
export type Saboteur<S> = [name: string, breaks: RegExp, sabotage: Sabotage, when?: Partial<S>];

type Send = () => Promise<ServiceResponse>;

/** Sabotages creating requests. */
export function creating(
	handle: (send: Send, request: ServiceRequest, ports: StepPorts) => Promise<ServiceResponse>,
): Sabotage {
	return (ports) => ({
		send: async (request, signal) => {
			const send = async () => await ports.send(request, signal);
			return await (request.method === 'POST' ? handle(send, request, ports) : send());
		},
	});
}

/** Sabotages the responses to creating requests. */
export function answering(change: (response: ServiceResponse) => ServiceResponse): Sabotage {
	return creating(async (send) => change(await send()));
}

/** Believes that a connection that broke with this code was never made. */
export function believing(code: string): Sabotage {
	return creating(async (send) => {
		try {
			return await send();
		} catch (error) {
			throw codeOf(error) === code ? breakages.portClosed() : error;
		}
	});
}

function codeOf(error: unknown): string {
	const { code, cause } = error as { code?: string; cause?: unknown };
	return code ?? (cause ? codeOf(cause) : '');
}

/** Sabotages the headers of creating requests. */
export function naming(header: (name: string) => string): Sabotage {
	return ({ send }) => ({
		send: async (request, signal) => {
			const { 'Idempotency-Key': name, ...others } = request.headers ?? {};
			const headers = { ...others, ...(name && { 'Idempotency-Key': header(name) }) };
			return await send({ ...request, headers }, signal);
		},
	});
}

/** Sabotages the responses to status checks. */
export function checking(change: (status: string, response: ServiceResponse) => object): Sabotage {
	return ({ send }) => ({
		send: async (request, signal) => {
			const response = await send(request, signal);
			const { status } = (response.body ?? {}) as { status?: string };
			if (request.method === 'POST' || status === undefined) return response;
			return { ...response, body: { ...(response.body as object), ...change(status, response) } };
		},
	});
}

/** Sabotages what n8n hands back at the start of each try. */
export function storing(change: (orders: StoredOrder[]) => StoredOrder[]): Sabotage {
	return ({ stored }) => {
		const changed = Object.entries(stored).map(([run, outputs]) => [
			run,
			Object.fromEntries(Object.entries(outputs).map(([name, all]) => [name, change(all)])),
		]);
		return { stored: Object.fromEntries(changed) as StoredOrders };
	};
}

/** Sabotages the outcomes that the step hands on. */
export function handing(change: (one: Outcome<string>) => Outcome<string>): Sabotage {
	return () => ({ output: (outcomes) => outcomes.map(change) });
}

/** Disregards settings of the step and of its items. */
export function disregarding(
	settings: Partial<StepPorts['settings']>,
	item: Partial<StepPorts['jobs'][number]> = {},
): Sabotage {
	return (ports) => ({
		settings: { ...ports.settings, ...settings },
		jobs: ports.jobs.map((job) => ({ ...job, ...item })),
	});
}

/** Sabotages what the table is told. */
export function telling(change: (call: TableCall) => TableCall): Sabotage {
	return ({ table }) => ({ table: async (call) => await table(change(call)) });
}

/** Sabotages single changes of the table. `null`: the change is forgotten. */
export function changing(change: (one: Change) => Change | null): Sabotage {
	return telling((call) => ({
		...call,
		changes: call.changes.flatMap((one) => change(one) ?? []),
	}));
}

/** Sabotages the rows that are read. `null`: the row is not seen. */
export function reading(change: (row: Row, ports: StepPorts) => Row | null): Sabotage {
	return (ports) => ({
		table: async (call) => (await ports.table(call)).flatMap((row) => change(row, ports) ?? []),
	});
}

/** The result of the schedules that were played with a saboteur. */
interface Found<S> {
	/** The violation of the promise; `null` if no schedule broke it. */
	broken: string | null;
	/** The schedule that broke it. */
	schedule: S | null;
	/** Violations of other promises, for a saboteur that breaks another one than it should. */
	others: Set<string>;
}

/** Plays schedules with a saboteur until one breaks its promise. */
export async function findBroken<S extends object>(
	schedules: S[],
	[, breaks, sabotage, when]: Saboteur<S>,
	play: (schedule: S, sabotage?: Sabotage) => Promise<unknown>,
): Promise<Found<S>> {
	const others = new Set<string>();
	for (const drawn of schedules) {
		const schedule = { ...drawn, ...when };
		const played = await toResult(async () => await play(schedule, sabotage));
		if (played.ok) continue;
		// The first line of the story is the first violation. The others are marked in it.
		const lines = String((played.error as Error).message).split('\n');
		const violations = lines.flatMap((line, index) =>
			index > 0 ? (line.split('!! ')[1] ?? []) : line,
		);
		const broken = violations.find((one) => breaks.test(one));
		if (broken !== undefined) return { broken, schedule, others };
		others.add(lines[0]);
	}
	return { broken: null, schedule: null, others };
}
