import { CancelledError } from '../../../client/api/errors';
import { Journal, type StoredOrders } from '../../../client/orders/journal';
import { SlotPool } from '../../../client/orders/slot-pool';
import { Pipeline, type PipelineResult } from '../../../client/step/pipeline';
import { ServiceClient } from '../../../client/api/client';
import { seededRandom } from '../../../sandbox/basics/random';
import type { CreateJob } from '../../../client/jobs/job';
import { InvalidInputError } from '../../../nodes/shared/form/checks';
import { requesting } from '../../support/step';
import { brokenDownload } from './faults';
import { sabotaged } from './sabotage';
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
	const { schedule } = world;
	const { maxConcurrent, stopOnError, maxNewGenerations, maxCredits, minimumBalance } =
		plan.settings;
	const random = seededRandom(schedule.seed);
	const step = sabotaged(
		{
			jobs: jobsOf(world, plan),
			settings: {
				maxConcurrent,
				pollIntervalMs: schedule.pollSeconds * 1000,
				stopOnError,
				maxNewGenerations,
				maxCredits,
				minimumBalance,
			},
			clock: world.time,
			signal: transport.signal,
			send: transport.send,
			probe: transport.probe,
			slots: new SlotPool({ clock: world.time, random }),
			stored: kept.generations,
			table: async () => await Promise.reject(new Error('no item has a key')),
			output: (outcomes) => outcomes,
		},
		world.sabotage,
	);
	kept.generations = step.stored;
	const { clock, signal, send, slots, probe } = step;
	const ports = { clock, random, signal };
	let downloads = 0;
	const result = await new Pipeline<string>(
		step.jobs,
		{
			...ports,
			service: new ServiceClient({ ...ports, send }),
			slots,
			cancel: signal,
			journal: new Journal(step.stored, 0),
			probe,
			finish: async (_, generation, stop) => {
				const number = downloads++;
				if (!plan.settings.wait) return { generation, output: null };
				await clock.sleep(DOWNLOAD_MS, stop);
				if (stop.aborted) throw new CancelledError();
				if (plan.brokenDownloads.includes(number)) throw brokenDownload();
				return { generation, output: generation.item.url };
			},
		},
		step.settings,
	).run();
	return { ...result, outcomes: step.output(result.outcomes) };
}

function jobsOf(world: World, { settings, brokenItems, buildMs }: Try): CreateJob[] {
	const { wait, onTimeout, onUncertainCharge, timeoutSeconds } = settings;
	const { retriesOnFailure, fallbacks } = settings;
	const { items, readiness } = world.schedule;
	return items.map((_, item) => ({
		kind: 'create' as const,
		...world.outputOf(item),
		readiness,
		...requesting(world.requestOf(item)),
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
