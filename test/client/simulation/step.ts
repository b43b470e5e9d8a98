import { averageDurations } from '../../../client/wire/catalogue';
import { CancelledError, GenerationError, InvalidInputError } from '../../../client/wire/errors';
import { Ledger, type LedgerEntry } from '../../../client/paying/ledger';
import { runPipeline, type PipelineResult } from '../../../client/pipeline';
import { PollSchedule } from '../../../client/watching/poll-schedule';
import { GenerationService } from '../../../client/wire/service';
import { listModels } from '../../../sandbox/models/catalogue';
import { seededRandom } from '../../../sandbox/basics/random';
import { SteadySchedule } from '../../support/steady-schedule';
import type { Job } from '../../../client/jobs/job';
import type { Random } from '../../../client/basics/ports';
import type { Schedule, Try } from './schedule';
import type { Transport } from './transport';
import type { World } from './world';

/** What n8n keeps with the execution. */
export interface Kept {
	generations: Record<string, LedgerEntry>;
}

const DOWNLOAD_MS = 1500;
const MAX_DOWNLOADS = 3;

/** One try of a generating step, bound to the client as the nodes bind it. */
export async function runStep(
	world: World,
	plan: Try,
	transport: Transport,
	kept: Kept,
): Promise<PipelineResult<string>> {
	const { time: clock, schedule } = world;
	const { maxConcurrent, stopOnError } = plan.settings;
	const ports = { clock, random: seededRandom(schedule.seed), signal: transport.signal };
	const service = new GenerationService({ ...ports, send: transport.send });
	let downloads = 0;
	return await runPipeline<string>(
		jobsOf(world, plan),
		{
			...ports,
			service,
			cancel: transport.signal,
			ledger: new Ledger(kept.generations, 0),
			schedule: pollScheduleOf(schedule, ports.random),
			observe: async (_, generation) => await service.status(generation.item.id),
			finish: async (_, generation, signal) => {
				const number = downloads++;
				if (!plan.settings.wait) return { generation, output: null };
				await clock.sleep(DOWNLOAD_MS, signal);
				if (signal.aborted) throw new CancelledError();
				if (plan.brokenDownloads.includes(number)) throw brokenDownload();
				return { generation, output: generation.item.url };
			},
		},
		{ maxConcurrent, maxFinishing: MAX_DOWNLOADS, stopOnError },
	);
}

/** What the catalogue says of how long generations take. */
const averages = averageDurations(listModels('all').map((model) => ({ ...model })));

function pollScheduleOf({ watching, pollSeconds }: Schedule, random: Random): PollSchedule {
	const intervalMs = pollSeconds * 1000;
	if (watching === 'steadily') return new SteadySchedule(intervalMs);
	return new PollSchedule(
		intervalMs,
		random,
		watching === 'by the catalogue' ? averages : undefined,
	);
}

function jobsOf(world: World, { settings, brokenItems, buildMs }: Try): Job[] {
	const { wait, onTimeout, onUncertainCharge, timeoutSeconds } = settings;
	return world.schedule.items.map((_, itemIndex) => ({
		itemIndex,
		request: async () => {
			if (brokenItems.includes(itemIndex)) throw new InvalidInputError('An input is gone', '');
			if (buildMs > 0) await world.time.sleep(buildMs);
			return world.requestOf(itemIndex);
		},
		wait,
		timeoutMs: timeoutSeconds * 1000,
		onTimeout,
		onUncertainCharge,
	}));
}

function brokenDownload(): GenerationError {
	return new GenerationError({
		title: 'The output could not be downloaded',
		description: '',
		code: 'download_failed',
	});
}
