import { runBulk, type BulkCase, type StepFigures } from '../bulk';
import { fixed } from '../figures';
import type { Part } from '../part';
import { printTable } from '../table';

const BULK: BulkCase = { items: 1000, limit: 25, seconds: 2 };

interface Result {
	rows: Array<ReturnType<typeof row>>;
}

/** A thousand items in one step, compared with a step that does nothing with them. */
export const bulk: Part<Result> = {
	name: 'bulk',
	async run() {
		const { ours, idle, ratio } = await runBulk(BULK);
		const rows = [row('Image Generation', ours, fixed(ratio, 3)), row('does nothing', idle, '-')];
		const { items, seconds, limit } = BULK;
		printTable(`${items} pictures of ${seconds} s each in one step, limit ${limit}`, rows);
		return { rows };
	},
	tables: ({ rows }) => ({
		bulk: rows.map((each) => ({
			step: each.step,
			'time ÷ ideal': each['makespan / ideal'],
			'additional memory': `${each['memory growth (MB)']} MB`,
			'longest event-loop pause': `${each['longest stall (ms)']} ms`,
			'caused by this process': `${each['longest own stall (ms)']} ms`,
		})),
	}),
};

function row(step: string, figures: StepFigures, ratio: number | '-') {
	return {
		step,
		'makespan / ideal': ratio,
		'makespan (s)': fixed(figures.seconds, 1),
		'memory growth (MB)': fixed(figures.growthBytes / 1024 ** 2, 0),
		'longest stall (ms)': fixed(figures.longest, 0),
		'longest own stall (ms)': fixed(figures.longestOwn, 0),
	};
}
