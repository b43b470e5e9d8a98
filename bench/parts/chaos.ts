import { chaosTable, type Chaos } from '../chaos/table';
import { endToEnd } from '../end-to-end';
import type { Part } from '../part';
import { printTable, type Row } from '../table';

/** Number of executions. Set `MEDIA_CHAOS` to a lower number on a machine that is busy with other work. */
const EXECUTIONS = process.env.MEDIA_CHAOS ?? '300';

/** The result that the end-to-end test writes. */
interface RealChaos extends Chaos {
	/** How often executions returned no items, by reason. */
	endedBadly: Record<string, number>;
	redisRestarts: number;
	goneSeconds: number;
	/** Number of rows without a final result when the failures ended. */
	openInTrouble: number;
	/** Memory in MB, by process. */
	memory: { before: Record<string, number>; after: Record<string, number> };
}

/** Load and every kind of failure at once, in a real n8n in queue mode. */
export const chaos: Part<RealChaos> = {
	name: 'chaos',
	onlyAsked: true,
	async run() {
		const result = await play({});
		printTable('Memory', memory(result));
		return result;
	},
	tables: (result) => ({ chaos: chaosTable(result), 'chaos-memory': memory(result) }),
};

/** The same failures, for batches that sleep while their generations run. */
export const chaosAsleep: Part<RealChaos> = {
	name: 'chaos-asleep',
	onlyAsked: true,
	run: async () => await play({ MEDIA_CHAOS_ASLEEP: '1' }),
	tables: (result) => ({ 'chaos-asleep': chaosTable(result) }),
};

async function play(env: Record<string, string>): Promise<RealChaos> {
	const left = await endToEnd('chaos', { MEDIA_CHAOS: EXECUTIONS, ...env });
	const result = left.get('queue') as RealChaos;
	printTable('Load and trouble of every kind, in a real n8n', chaosTable(result));
	return result;
}

function memory({ memory: { before, after } }: RealChaos): Row[] {
	return Object.keys(before).map((name) => ({
		'': name,
		'at the beginning': `${before[name]} MB`,
		'at the end': `${after[name]} MB`,
	}));
}
