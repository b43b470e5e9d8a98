import { Journal } from '../../client/orders/journal';
import { SlotPool } from '../../client/orders/slot-pool';
import { TableJournal } from '../../client/orders/table-journal';
import { runPipeline, type PipelineResult } from '../../client/pipeline';
import { ServiceClient as Client } from '../../client/api/client';
import type { Clock, ProbeUrl, SendRequest } from '../../client/ports';
import type { CreateJob } from '../../client/job';
import type { GenerationService } from '../../sandbox/service';
import { breakages } from '../../test/client/simulation/faults';
import type { MemoryTable } from '../../test/support/memory-table';
import type { VirtualTime } from '../../test/support/virtual-time';

/** The environment of the processes, which outlives each of them. */
export interface Surroundings {
	readonly time: VirtualTime;
	readonly service: GenerationService;
	readonly random: () => number;
	/** True while the service is unreachable. */
	gone: boolean;
	/** Number of requests that failed, by kind of failure. */
	readonly troubles: Record<string, number>;
}

/** Latency of a table call before and after it takes effect, as in a real n8n on PostgreSQL. */
const TABLE_TIMES = { beforeMs: 50, afterMs: 50 };
/** Maximum latency of a request in each direction. */
const WAY_MS = 50;
const DOWNLOAD_TRIES = 5;

/** A worker of n8n. Once it is killed, nothing that it waits for ever arrives. */
export class Process {
	dead = false;
	readonly clock: Clock;
	private readonly slots: SlotPool;
	private executions = 0;

	constructor(
		private readonly name: string,
		private readonly world: Surroundings,
	) {
		const { time } = world;
		this.clock = {
			now: () => time.now(),
			sleep: async (ms, signal) => {
				await time.sleep(ms, signal);
				if (this.dead) await new Promise<never>(() => undefined);
			},
		};
		this.slots = new SlotPool({ clock: this.clock, random: world.random });
	}

	/**
	 * Runs one execution: a step whose items use their prompts as keys.
	 *
	 * @param table the table that stores the keys
	 */
	async execute(prompts: string[], table: MemoryTable): Promise<PipelineResult<string>> {
		const { clock, world } = this;
		const { signal } = new AbortController();
		const ports = { clock, random: world.random, signal };
		const writer = `${this.name}.${++this.executions}`;
		const scope = { workflowId: 'w', nodeId: 'n', executionId: writer, writer };
		const journal = new TableJournal(new Journal({}, 0), scope, {
			...ports,
			table: table.reachedBy(clock, () => TABLE_TIMES),
		});
		try {
			await journal.begin(prompts);
			return await runPipeline<string>(
				prompts.map(jobOf),
				{
					...ports,
					service: new Client({ ...ports, send: this.send }),
					journal,
					probe: this.probe,
					slots: this.slots,
					cancel: signal,
					finish: async (_, generation) => {
						await this.download(generation.item.url ?? '');
						return { generation, output: generation.item.id };
					},
				},
				{ maxConcurrent: 10, pollIntervalMs: 1000, stopOnError: false },
			);
		} finally {
			await journal.close();
		}
	}

	private readonly send: SendRequest = async ({ method, path, query, body }) => {
		const { service, troubles } = this.world;
		await this.travel();
		if (this.world.gone) throw breakages.portClosed();
		const { key } = service.accounts.keyOf('main');
		const headers = { authorization: `Bearer ${key}` };
		const reply = service.handle({ method, path, query, headers, body });
		const fault = reply.record?.fault;
		if (fault) troubles[fault] = (troubles[fault] ?? 0) + 1;
		await this.travel();
		if (reply.delivery === 'reset' || this.world.gone) throw breakages.reset();
		return { status: reply.status, body: reply.body };
	};

	private readonly probe: ProbeUrl = async (url) => {
		await this.travel();
		const { status, output } = this.fetch(url, { range: 'bytes=0-0' });
		return { status: output ? 206 : status, oneByte: output !== null };
	};

	private async download(url: string): Promise<void> {
		for (let tries = 1; tries <= DOWNLOAD_TRIES; tries++) {
			await this.travel();
			const { output, fault } = this.fetch(url, {});
			if (output && !fault) return;
			const { troubles } = this.world;
			if (fault) troubles[fault.kind] = (troubles[fault.kind] ?? 0) + 1;
			await this.clock.sleep(1000);
		}
		throw new Error('The output cannot be had');
	}

	private fetch(url: string, headers: Record<string, string>) {
		const { pathname: path, searchParams } = new URL(url);
		const query = Object.fromEntries(searchParams);
		return this.world.service.fetchOutput({ method: 'GET', path, query, headers });
	}

	private async travel(): Promise<void> {
		await this.clock.sleep(this.world.random() * WAY_MS);
	}
}

function jobOf(prompt: string, itemIndex: number): CreateJob {
	const body = { model: 'aurora-image-1', prompt };
	return {
		kind: 'create',
		itemIndex,
		request: async () => await Promise.resolve({ type: 'image', body }),
		idempotencyKey: prompt,
		wait: true,
		readiness: 'auto',
		timeoutMs: 600_000,
		onTimeout: 'error',
		onUncertainCharge: 'error',
	};
}
