import { fixed } from '../figures';
import type { Row } from '../table';
import type { Verdict } from '../../test/support/chaos/verdict';

/** Results of a run under load with failures. */
export interface Chaos extends Verdict {
	executions: number;
	/** Time from the first start of an execution to the end. */
	seconds: number;
	/** Number of executions that were run again. */
	again: number;
	kills: number;
	/** Number of requests that failed, by kind of failure. */
	troubles: Record<string, number>;
}

/** Returns the failures and the results, with one row for each figure. */
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
		['median wait before an execution starts', `${fixed(chaos.medianWait, 0)} s`],
		['longest wait before an execution starts', `${fixed(chaos.longestWait, 0)} s`],
	];
	return lines.map(([what, figure]) => ({ '': what, ' ': figure }));
}
