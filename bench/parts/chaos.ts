import { runSimulatedChaos, type SimulatedChaos } from '../chaos/simulated';
import type { Verdict } from '../chaos/verdict';
import { endToEnd } from '../end-to-end';
import { fixed } from '../figures';
import type { Part } from '../part';
import { printTable, type Row } from '../table';

const EXECUTIONS = 300;
const SIMULATED = 2000;

/** As the end-to-end test leaves it. */
interface RealChaos extends Verdict {
	executions: number;
	seconds: number;
	/** Executions that were called for again. */
	again: number;
	/** How many executions did not end as a success, by their status. */
	endedBadly: Record<string, number>;
	kills: number;
	redisRestarts: number;
	goneSeconds: number;
	/** Rows without a last word when the trouble ended. */
	openInTrouble: number;
	troubles: Record<string, number>;
	/** MB by process. */
	memory: { before: Record<string, number>; after: Record<string, number> };
}

interface Result {
	real: RealChaos;
	simulated: SimulatedChaos;
}

/** Load and every trouble at once: 300 executions in a real n8n in queue mode, 2,000 in virtual time. */
export const chaos: Part<Result> = {
	name: 'chaos',
	onlyAsked: true,
	async run() {
		const simulated = await runSimulatedChaos(SIMULATED);
		const left = await endToEnd('chaos', { MEDIA_CHAOS: String(EXECUTIONS) });
		const real = left.get('queue') as RealChaos;
		printTable('Load and trouble of every kind', table({ real, simulated }));
		printTable('Memory in a real n8n (MB)', memory(real));
		return { real, simulated };
	},
	tables: (result) => ({ chaos: table(result), 'chaos-memory': memory(result.real) }),
};

/** The columns are the two worlds. */
function table({ real, simulated }: Result): Row[] {
	const line = (
		name: string,
		value: (from: RealChaos | SimulatedChaos) => string | number,
	): Row => ({
		'': name,
		'a real n8n': value(real),
		'virtual time': value(simulated),
	});
	const troubles = (kind: string) => (from: RealChaos | SimulatedChaos) => from.troubles[kind] ?? 0;
	return [
		line('executions', ({ executions }) => executions),
		line('items', ({ items }) => items),
		line('from the first call to the end', ({ seconds }) => `${fixed(seconds, 0)} s`),
		line('workers killed', ({ kills }) => kills),
		line('answers lost', troubles('loseAnswer')),
		line('refused with a 5xx', troubles('error')),
		line('downloads broken', troubles('truncate')),
		line('executions called for again', ({ again }) => again),
		line('items handed on', ({ handedOn }) => handedOn),
		line('said to be uncertain', ({ uncertain }) => uncertain),
		line('of these paid', ({ uncertainPaid }) => uncertainPaid),
		line('not done when the time was up', ({ open }) => open),
		line('**paid twice**', ({ paidTwice }) => `**${paidTwice}**`),
		line('**lost**', ({ lost }) => `**${lost}**`),
		line('slots busy while there was work', (from) => from.slotUse.toFixed(2)),
		line('half wait for a slot less than', ({ medianWait }) => `${fixed(medianWait, 0)} s`),
		line('longest wait for a slot', ({ longestWait }) => `${fixed(longestWait, 0)} s`),
	];
}

function memory({ memory: { before, after } }: RealChaos): Row[] {
	return Object.keys(before).map((name) => ({
		'': name,
		'at the beginning': `${before[name]} MB`,
		'at the end': `${after[name]} MB`,
	}));
}
