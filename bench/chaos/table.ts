import { fixed } from '../figures';
import type { Row } from '../table';
import type { Verdict } from '../../test/support/chaos/verdict';

/** What came of load and trouble. */
export interface Chaos extends Verdict {
	executions: number;
	/** From the first call to the end. */
	seconds: number;
	/** Executions that were called for again. */
	again: number;
	kills: number;
	/** How many requests met with trouble, by its kind. */
	troubles: Record<string, number>;
}

/** What happened, and what came of it: a line for each figure. */
export function chaosTable(chaos: Chaos): Row[] {
	const { troubles } = chaos;
	const lines: Array<[what: string, figure: string | number]> = [
		['executions', chaos.executions],
		['items', chaos.items],
		['from the first call to the end', `${fixed(chaos.seconds, 0)} s`],
		['workers killed', chaos.kills],
		['responses to creating requests lost', troubles.loseAnswer ?? 0],
		['creating requests answered with a 5xx', troubles.error ?? 0],
		['downloads broken', troubles.truncate ?? 0],
		['executions run again', chaos.again],
		['items returned', chaos.handedOn],
		['items reported as uncertain', chaos.uncertain],
		['of these charged', chaos.uncertainPaid],
		['items not finished in time', chaos.open],
		['**paid twice**', `**${chaos.paidTwice}**`],
		['**lost**', `**${chaos.lost}**`],
		['slots busy while there was work', chaos.slotUse.toFixed(2)],
		['half of them start within', `${fixed(chaos.medianWait, 0)} s`],
		['the last one starts after', `${fixed(chaos.longestWait, 0)} s`],
	];
	return lines.map(([what, figure]) => ({ '': what, ' ': figure }));
}
