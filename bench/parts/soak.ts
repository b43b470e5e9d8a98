import { endToEnd } from '../end-to-end';
import { fixed, slope } from '../figures';
import type { Part } from '../part';
import { printTable, type Row } from '../table';

const EXECUTIONS = 600;
const MB = 1024 ** 2;

/** What n8n keeps: bytes after a collection of garbage, and how many there are by name. */
interface Kept {
	rss: number;
	heapUsed: number;
	/** What keeps its event loop going: timers, sockets and the like. */
	resources: Record<string, number>;
	/** Objects of this package's classes. */
	own: Record<string, number>;
}

/** As the end-to-end test leaves it. */
interface Soak {
	executions: number;
	items: number;
	seconds: number;
	before: Kept;
	samples: Array<{ executions: number; heapUsed: number; rss: number }>;
	after: Kept;
}

/** Many executions in one n8n: what of its memory does not come back. */
export const soak: Part<Soak> = {
	name: 'soak',
	onlyAsked: true,
	async run() {
		const left = await endToEnd('soak', { MEDIA_SOAK: String(EXECUTIONS) });
		const figures = left.get('soak') as Soak;
		printTable(`${EXECUTIONS} executions in one n8n`, table(figures));
		return figures;
	},
	tables: (figures) => ({ soak: table(figures) }),
};

function table({ before, samples, after }: Soak): Row[] {
	const megabytes = (bytes: number) => `${fixed(bytes / MB, 0)} MB`;
	// In the first half n8n takes what it needs for as many executions at once as there are.
	const later = samples.slice(samples.length / 2);
	const per100 = (of: 'heapUsed' | 'rss') => {
		const points = later.map((each) => ({ x: each.executions, y: each[of] / MB }));
		return `${fixed(slope(points) * 100, 2)} MB`;
	};
	const line = (name: string, value: (kept: Kept) => string | number, growth = '') => ({
		'': name,
		'before, at rest': value(before),
		'after, at rest': value(after),
		'slope in 100 executions, second half': growth,
	});
	const sum = (counts: Record<string, number>) =>
		Object.values(counts).reduce((total, count) => total + count, 0);
	return [
		line('heap', ({ heapUsed }) => megabytes(heapUsed), per100('heapUsed')),
		line('resident memory', ({ rss }) => megabytes(rss), per100('rss')),
		line('timers', ({ resources }) => resources.Timeout ?? 0),
		line('sockets', ({ resources }) => resources.TCPSocketWrap ?? 0),
		line('objects of this package', ({ own }) => sum(own)),
	];
}
