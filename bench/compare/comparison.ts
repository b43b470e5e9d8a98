import type { Machine } from '../machine';
import type { Row as TableRow } from '../table';
import type { Recovery, Speed, Stop } from './measure';

/** The measurements of one approach. */
export interface Row {
	approach: string;
	speed: Speed;
	/** Maximum growth of n8n's resident memory. */
	memoryBytes: number;
	failedGeneration: Recovery;
	refusedRequest: Recovery;
	stop: Stop;
}

/** One run of the comparison; this package's row is the first. */
export interface Comparison {
	date: string;
	/** When this package alone was measured again. */
	oursDate?: string;
	n8n: string;
	node: string;
	machine: Machine;
	videos: number;
	/** Seconds that the service takes for each video. */
	secondsEach: number;
	/** Maximum number of videos that the account may make at the same time. */
	limit: number;
	rows: Row[];
}

/** Returns the date of the measurement, the n8n version and the machine. */
export function circumstancesOf({ date, oursDate = date, n8n, machine }: Comparison): string {
	const again = oursDate === date ? '' : `, this package again ${oursDate}`;
	return `${date}${again}, n8n ${n8n}, ${machine.cores} cores, ${machine.memoryGiB} GiB`;
}

/** Returns the comparison as a table with a column for each approach. */
export function sideBySide({ rows }: Comparison): TableRow[] {
	const [first] = rows;
	const line = (name: string, tell: (row: Row) => string): TableRow => ({
		'': name,
		...Object.fromEntries(
			rows.map((row) => [row === first ? `**${row.approach}**` : row.approach, tell(row)]),
		),
	});
	const seconds = ({ speed }: Row) => `${Math.round(speed.seconds)} s`;
	const times = ({ speed }: Row) => ` (${ratio(speed.seconds / first.speed.seconds)} times)`;
	return [
		line('time', (row) => seconds(row) + (row === first ? '' : times(row))),
		line('requests to the service per video, including the download', ({ speed }) =>
			speed.requestsPerVideo.toFixed(1),
		),
		line('storage probes per video', ({ speed }) => (speed.probesPerVideo ?? 0).toFixed(0)),
		line(
			'additional memory used by n8n',
			({ memoryBytes }) => `${Math.round(memoryBytes / 1024 ** 2)} MB`,
		),
		line('paid, after the 15th video failed', ({ failedGeneration }) => paid(failedGeneration)),
		line('paid, after the 15th request got a 500', ({ refusedRequest }) => paid(refusedRequest)),
		line('requests after Stop', ({ stop }) => String(stop.requestsAfter)),
		line('paid IDs still known after Stop', ({ stop }) => `${stop.idsKept} of ${stop.paid}`),
	];
}

function paid({ credits, paidTwice }: Recovery): string {
	return paidTwice === 0
		? `${credits} credits`
		: `${credits} credits, ${paidTwice} videos paid twice`;
}

function ratio(value: number): string {
	return value === 1 ? '1' : value.toFixed(1);
}
