import type { CreateRequest } from '../client/api/client';
import { ServiceClient as Client } from '../client/api/client';
import { Journal } from '../client/orders/journal';
import { Pipeline, type PipelineResult } from '../client/step/pipeline';
import type { ProbeUrl, SendRequest } from '../client/ports';
import type { Readiness } from '../client/jobs/job';
import type { SlotPool } from '../client/orders/slot-pool';
import type { GenerationService } from '../sandbox/service';
import type { VirtualTime } from '../test/support/virtual-time';

interface SimulatedStep {
	service: GenerationService;
	time: VirtualTime;
	random: () => number;
	key: string;
	items: number;
	maxConcurrent: number;
	/** How the end of a generation is detected. */
	readiness: Readiness;
	/** Every n-th generation fails. By default, none fails. */
	failingEvery?: number;
	/** The slots of the account, which other steps of the process may share. */
	slots: SlotPool;
}

/** Runs one step of the pipeline against the sandbox's service in virtual time, without HTTP. */
export async function runSimulatedStep(step: SimulatedStep): Promise<PipelineResult<null>> {
	const { time: clock, random } = step;
	const signal = new AbortController().signal;
	const client = new Client({ send: sendTo(step), clock, random, signal });
	const requestOf = (itemIndex: number): CreateRequest => {
		const fails = (itemIndex + 1) % (step.failingEvery ?? Infinity) === 0;
		const prompt = fails ? 'a wave [fail: out of paint]' : 'a wave';
		return { type: 'video', body: { model: 'aurora-motion-1', prompt, duration: 2 } };
	};
	const jobs = Array.from({ length: step.items }, (_, itemIndex) => ({
		kind: 'create' as const,
		itemIndex,
		digest: '',
		draft: requestOf(itemIndex),
		request: async () => requestOf(itemIndex),
		readiness: step.readiness,
		wait: true,
		timeoutMs: 3_600_000,
		onTimeout: 'error' as const,
		onUncertainCharge: 'error' as const,
	}));
	return await new Pipeline<null>(
		jobs,
		{
			service: client,
			clock,
			random,
			cancel: signal,
			journal: new Journal({}, 0),
			probe: probeOf(step),
			slots: step.slots,
			finish: async (_, generation) => ({ generation, output: null }),
		},
		{ maxConcurrent: step.maxConcurrent, stopOnError: false, pollIntervalMs: 3000 },
	).run();
}

function sendTo({ service, key }: SimulatedStep): SendRequest {
	return async ({ method, path, query, body }) => {
		const headers = { authorization: `Bearer ${key}` };
		const { status, body: answer } = service.handle({ method, path, query, headers, body });
		return { status, body: answer };
	};
}

/** Returns a probe of the sandbox's storage, which returns the first byte only once the output exists. */
function probeOf({ service }: SimulatedStep): ProbeUrl {
	return async (url) => {
		const { pathname: path, searchParams } = new URL(url);
		const query = Object.fromEntries(searchParams);
		const { status, output } = service.fetchOutput({ method: 'GET', path, query, headers: {} });
		return { status: output ? 206 : status, oneByte: output !== null };
	};
}
