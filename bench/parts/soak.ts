import { endToEnd } from '../end-to-end';
import { fixed, slope } from '../figures';
import type { Part } from '../part';
import { printTable, type Row } from '../table';

const EXECUTIONS = 600;
const MB = 1024 ** 2;

/** What n8n retains after garbage collection: memory in bytes, and the number of resources and objects by name. */
interface Kept {
	rss: number;
	heapUsed: number;
	/** Resources that keep the event loop alive, such as timers and sockets. */
	resources: Record<string, number>;
	/** Objects of this package's classes. */
	own: Record<string, number>;
}

/** The result that the end-to-end test writes. */
interface Left {
	executions: number;
	items: number;
	seconds: number;
	before: Kept;
	samples: Array<{ executions: number; heapUsed: number; rss: number }>;
	after: Kept;
}

interface Soak {
	package: Left;
	/** The same images, created with n8n's own nodes in a separate n8n. */
	without: Left;
}

/** Many executions in one n8n, to find memory that is not freed. */
export const soak: Part<Soak> = {
	name: 'soak',
	onlyAsked: true,
	async run() {
		const left = await endToEnd('soak', { MEDIA_SOAK: String(EXECUTIONS) });
		const figures = {
			package: left.get('package') as Left,
			without: left.get('without') as Left,
		};
		printTable(`${EXECUTIONS} executions in one n8n`, table(figures));
		return figures;
	},
	tables: (figures) => ({ soak: table(figures) }),
};

type Value = (kept: Kept) => string | number;

function table(figures: Soak): Row[] {
	const megabytes = (bytes: number) => `${fixed(bytes / MB, 0)} MB`;
	const lines: Array<[name: string, value: Value, of?: 'heapUsed' | 'rss']> = [
		['heap', ({ heapUsed }) => megabytes(heapUsed), 'heapUsed'],
		['resident memory', ({ rss }) => megabytes(rss), 'rss'],
		['timers', ({ resources }) => resources.Timeout ?? 0],
		['sockets', ({ resources }) => resources.TCPSocketWrap ?? 0],
		['objects of this package', ({ own }) => sum(own)],
	];
	const ways: Array<[name: string, left: Left]> = [
		['Image Generation', figures.package],
		['n8n’s own nodes', figures.without],
	];
	return lines.flatMap(([name, value, of]) =>
		ways.map(([way, left]) => ({
			'': name,
			by: way,
			'before, at rest': value(left.before),
			'after, at rest': value(left.after),
			'slope in 100 executions, second half': of ? slopeOf(left, of) : '',
		})),
	);
}

/**
 * Returns the slope over the second half of the run. In the first half, n8n allocates what it needs for this number of
 * parallel executions.
 */
function slopeOf({ samples }: Left, of: 'heapUsed' | 'rss'): string {
	const later = samples.slice(samples.length / 2);
	const points = later.map((each) => ({ x: each.executions, y: each[of] / MB }));
	return `${fixed(slope(points) * 100, 2)} MB`;
}

function sum(counts: Record<string, number>): number {
	return Object.values(counts).reduce((total, count) => total + count, 0);
}
