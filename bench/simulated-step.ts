import type { CreateRequest } from '../client/wire/service';
import { GenerationService as Client } from '../client/wire/service';
import { Ledger } from '../client/paying/ledger';
import { runPipeline, type PipelineResult } from '../client/pipeline';
import { PollSchedule } from '../client/watching/poll-schedule';
import type { SendRequest } from '../client/basics/ports';
import type { Probing } from '../client/paying/slot-gate';
import type { GenerationService } from '../sandbox/service';
import type { VirtualTime } from '../test/support/virtual-time';

/** What a request takes on its way to the service and back. */
const LATENCY_MS = 0;

export interface SimulatedStep {
	service: GenerationService;
	time: VirtualTime;
	random: () => number;
	key: string;
	items: number;
	model: string;
	maxConcurrent: number;
	pollIntervalMs: number;
	timeoutMs: number;
	/** What the catalogue says of the model, in milliseconds. */
	expectedMs: number | null;
	/** The longest pause between two probes for a slot, where it is not the usual one. */
	probing?: Probing;
}

/** Runs one step of the pipeline against the sandbox's service in virtual time, without HTTP. */
export async function runSimulatedStep(step: SimulatedStep): Promise<PipelineResult<null>> {
	const { time: clock, random, expectedMs, model } = step;
	const signal = new AbortController().signal;
	const client = new Client({ send: sendTo(step), clock, random, signal });
	const request: CreateRequest = { type: 'video', body: { model, prompt: 'a wave', duration: 2 } };
	const jobs = Array.from({ length: step.items }, (_, itemIndex) => ({
		itemIndex,
		request: async () => request,
		wait: true,
		timeoutMs: step.timeoutMs,
		onTimeout: 'error' as const,
		onUncertainCharge: 'error' as const,
	}));
	const expected = new Map(expectedMs === null ? [] : [[model, expectedMs]]);
	return await runPipeline<null>(
		jobs,
		{
			service: client,
			clock,
			random,
			cancel: signal,
			ledger: new Ledger({}, 0),
			schedule: new PollSchedule(step.pollIntervalMs, random, expected),
			observe: async (_, generation) => await client.status(generation.item.id),
			finish: async (_, generation) => ({ generation, output: null }),
		},
		{
			maxConcurrent: step.maxConcurrent,
			maxFinishing: 3,
			stopOnError: false,
			probing: step.probing,
		},
	);
}

function sendTo({ service, time, key }: SimulatedStep): SendRequest {
	return async ({ method, path, query, body }) => {
		await time.sleep(LATENCY_MS / 2);
		const headers = { authorization: `Bearer ${key}` };
		const { status, body: answer } = service.handle({ method, path, query, headers, body });
		await time.sleep(LATENCY_MS / 2);
		return { status, body: answer };
	};
}
