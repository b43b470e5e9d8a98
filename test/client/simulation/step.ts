import { CancelledError } from '../../../client/api/errors';
import { Journal, type StoredOrders } from '../../../client/orders/journal';
import { SlotPool } from '../../../client/orders/slot-pool';
import { runPipeline, type PipelineResult } from '../../../client/pipeline';
import { ServiceClient } from '../../../client/api/client';
import { seededRandom } from '../../../sandbox/basics/random';
import type { Job } from '../../../client/job';
import { InvalidInputError } from '../../../nodes/shared/form/checks';
import { brokenDownload } from './faults';
import type { Try } from './schedule';
import type { Transport } from './transport';
import type { World } from './world';

/** What n8n keeps with the execution. */
export interface Kept {
	generations: StoredOrders;
}

const DOWNLOAD_MS = 1500;

/** One try of a generating step, bound to the client as the nodes bind it. */
export async function runNode(
	world: World,
	plan: Try,
	transport: Transport,
	kept: Kept,
): Promise<PipelineResult<string>> {
	const { time: clock, schedule } = world;
	const { maxConcurrent, stopOnError, maxNewGenerations, minimumBalance } = plan.settings;
	const ports = { clock, random: seededRandom(schedule.seed), signal: transport.signal };
	const service = new ServiceClient({ ...ports, send: transport.send });
	let downloads = 0;
	return await runPipeline<string>(
		jobsOf(world, plan),
		{
			...ports,
			service,
			slots: new SlotPool(ports),
			cancel: transport.signal,
			journal: new Journal(kept.generations, 0),
			probe: transport.probe,
			finish: async (_, generation, signal) => {
				const number = downloads++;
				if (!plan.settings.wait) return { generation, output: null };
				await clock.sleep(DOWNLOAD_MS, signal);
				if (signal.aborted) throw new CancelledError();
				if (plan.brokenDownloads.includes(number)) throw brokenDownload();
				return { generation, output: generation.item.url };
			},
		},
		{
			maxConcurrent,
			pollIntervalMs: schedule.pollSeconds * 1000,
			stopOnError,
			maxNewGenerations,
			minimumBalance,
		},
	);
}

function jobsOf(world: World, { settings, brokenItems, buildMs }: Try): Job[] {
	const { wait, onTimeout, onUncertainCharge, timeoutSeconds } = settings;
	const { retriesOnFailure, fallbacks } = settings;
	const { items, readiness } = world.schedule;
	return items.map((_, item) => ({
		kind: 'create' as const,
		...world.outputOf(item),
		readiness,
		request: async () => {
			if (brokenItems.includes(item)) throw new InvalidInputError('An input is gone', '');
			if (buildMs > 0) await world.time.sleep(buildMs);
			return world.requestOf(item);
		},
		wait,
		timeoutMs: timeoutSeconds * 1000,
		onTimeout,
		onUncertainCharge,
		retriesOnFailure,
		fallbackModels: world.modelsOf(item).slice(1, 1 + fallbacks),
	}));
}
