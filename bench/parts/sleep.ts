import type { SleepToll } from '../../test/e2e/support/sleep-kills';
import { videosAsleep, videosPolled, type Videos } from '../../test/support/videos';
import { endToEnd } from '../end-to-end';
import { fixed } from '../figures';
import type { Part } from '../part';
import { printTable, type Row } from '../table';

/** Number of processes that are killed in each mode. Each kill affects up to ten batches. */
const KILLS = 4;
const ITEMS = 200;
const LIMIT = 10;
const SECONDS = [30, 60, 120, 300, 600];
const SPREADS = [0, 0.25];

interface Result {
	slots: Array<Awaited<ReturnType<typeof slotsRow>>>;
	kills: Array<ReturnType<typeof killsRow>>;
}

/** Batches that sleep: slot usage in virtual time, and the effect of killed processes in a real n8n. */
export const sleep: Part<Result> = {
	name: 'sleep',
	onlyAsked: true,
	async run() {
		const slots = [];
		for (const seconds of SECONDS) {
			for (const spread of SPREADS) {
				slots.push(await slotsRow({ items: ITEMS, limit: LIMIT, seconds, spread }));
			}
		}
		printTable(`${ITEMS} generations at a limit of ${LIMIT}, asleep and polled`, slots.map(shown));
		const tolls = await endToEnd('sleeping-batch.kills', { MEDIA_SLEEP_KILLS: String(KILLS) });
		const kills = [...tolls].map(([mode, toll]) => killsRow(mode, toll as SleepToll));
		printTable('Processes are killed while batches sleep and wake', kills);
		return { slots, kills };
	},
	tables: ({ slots, kills }) => ({ 'sleep-slots': slots.map(shown), 'sleep-kills': kills }),
};

async function slotsRow(videos: Videos) {
	const asleep = await videosAsleep(videos);
	const polled = await videosPolled(videos);
	for (const { made, failed } of [asleep, polled]) {
		if (made !== videos.items || failed > 0) throw new Error(`${failed} failed, ${made} made`);
	}
	return {
		seconds: videos.seconds,
		spread: videos.spread,
		'slots in use, asleep': fixed(asleep.used, 3),
		'slots in use, polled': fixed(polled.used, 3),
		'a worker is held': fixed(asleep.held, 3),
		wakes: asleep.waves - 1,
	};
}

function shown(row: Result['slots'][number]): Row {
	return {
		'a generation takes': `${row.seconds} s${row.spread > 0 ? `, ± ${percent(row.spread)}` : ''}`,
		'slots in use, asleep': percent(row['slots in use, asleep']),
		'slots in use, polled': percent(row['slots in use, polled']),
		'a worker is held': percent(row['a worker is held']),
		'wake-ups': row.wakes,
	};
}

function percent(part: number): string {
	return `${Math.round(100 * part)} %`;
}

function killsRow(mode: string, toll: SleepToll) {
	const { kills, batches, underWay, continued, failed, reused, uncertain, twice, lost } = toll;
	return {
		mode,
		'processes killed': kills,
		batches,
		'under way when killed': underWay,
		'continued by themselves': continued,
		'ended with an error': failed,
		'reused by the next run': reused,
		'uncertain items': uncertain,
		'paid twice': twice,
		lost,
	};
}
