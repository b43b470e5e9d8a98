import { planItems } from '../../../nodes/shared/form/plan-items';
import { runLookups } from '../../../nodes/shared/run/lookup';
import { contextOf } from '../../support/context';

/** n8n serves its editor, webhooks and other executions in the same process. */

const items = Array.from({ length: 10_000 }, () => ({ json: {} }));
const { step } = contextOf({
	items,
	credentials: { baseUrl: 'https://api.example.com', apiKey: 'svc_live_0123456789' },
});

/** Returns how often other work had its turn while a task ran. */
async function turnsDuring(task: () => Promise<unknown>): Promise<number> {
	let turns = 0;
	let isOver = false;
	const turn = () => {
		turns++;
		if (!isOver) setImmediate(turn);
	};
	setImmediate(turn);
	await task();
	isOver = true;
	return turns;
}

it.each<[string, () => Promise<unknown>]>([
	['planned', async () => await planItems(step, () => [])],
	['looked up', async () => await runLookups(step, async () => [{}])],
])('ten thousand items do not block n8n while they are %s', async (_, task) => {
	expect(await turnsDuring(task)).toBeGreaterThan(100);
});
