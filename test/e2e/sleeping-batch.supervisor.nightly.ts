/** Kills n8n while the supervisor of a suspended batch is awake between two waves: its weakest moment. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { byHand, smallImageNode, trigger } from './support/workflows';

const minutes = 60_000;
/** Number of kills, each with a batch of its own. */
const KILLS = Number(process.env.MEDIA_SUPERVISOR_KILLS ?? 1);
const ITEMS = 6;

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.open({ name: 'sleeping-batch-supervisor', sandbox: { timeScale: 1 } });
	stage.sandbox.service.accounts.account('main').concurrency = 30;
}, 5 * minutes);
afterAll(async () => await stage?.close());

interface NodeEvent {
	ts: string;
	eventName: string;
	payload: { executionId: string; nodeName?: string; workflowName: string };
}

/** Returns what n8n has written into its event log since it started. */
function eventLog(): NodeEvent[] {
	const text = readFileSync(join(stage.data, 'n8n/.n8n/n8nEventLog.log'), 'utf8');
	return text
		.split('\n')
		.filter((line) => line.includes('n8n.node.'))
		.flatMap((line) => {
			// The last line may be incomplete.
			try {
				return [JSON.parse(line) as NodeEvent];
			} catch {
				return [];
			}
		});
}

/** Returns the start of the second or a later wave: the supervisor is awake. */
function wakingSupervisor(after: number): NodeEvent | undefined {
	return eventLog().find(
		({ ts, eventName, payload: { nodeName = '' } }) =>
			eventName === 'n8n.node.started' &&
			/^Wave ([2-9]|\d\d)$/.test(nodeName) &&
			Date.parse(ts) > after,
	);
}

/**
 * Returns how long supervisors were awake between two waves, in milliseconds: from the end of a wave's work until the
 * next wave sleeps.
 */
function awakeTimes(): number[] {
	const events = eventLog();
	return events.flatMap(({ ts, eventName, payload }, index) => {
		if (eventName !== 'n8n.node.finished' || payload.nodeName !== 'Work') return [];
		const asleep = events
			.slice(index)
			.find(
				(event) => event.eventName === 'n8n.node.finished' && event.payload.nodeName === 'Sleep',
			);
		return asleep ? [Date.parse(asleep.ts) - Date.parse(ts)] : [];
	});
}

async function killBetweenWaves(after: number): Promise<void> {
	const deadline = Date.now() + 8 * minutes;
	while (!wakingSupervisor(after)) {
		if (Date.now() > deadline) throw new Error('No supervisor was awake');
		await delay(3);
	}
	await stage.restart();
}

/** Returns how an execution ended: by itself, or with an error after which its items are to be run again. */
function endOf(execution: Execution): 'continued' | 'ended' {
	const isWhole = itemsOf(execution, 'Images').length === ITEMS;
	return execution.status === 'success' && isWhole ? 'continued' : 'ended';
}

it(
	'a batch whose supervisor is hit continues or ends with an error, and the next run takes up everything',
	async () => {
		const toll = { kills: 0, continued: 0, ended: 0 };
		const errors: string[] = [];
		const awake: number[] = [];
		for (let number = 1; number <= KILLS; number++) {
			const prompts = Array.from(
				{ length: ITEMS },
				(_, item) => `[seconds: ${item < 2 ? 70 : 100}] ${number}.${item}`,
			);
			const step = smallImageNode({
				idempotencyKey: '={{ $json.prompt }}',
				whileWaiting: 'suspend',
				maxConcurrent: 2,
			});
			const workflow = await stage.save(byHand(`Supervisor ${number}`, prompts, step));
			const id = await stage.executions.run(workflow, trigger);
			await killBetweenWaves(Date.now());
			toll.kills++;
			const execution = await stage.executions.ended(id, 15 * minutes, 1000);
			const end = endOf(execution);
			toll[end]++;
			if (end === 'ended') errors.push(`${execution.status}: ${errorOf(execution)}`);
			// Without a second charge, also after a batch that continued.
			const again = await stage.executions.ended(
				await stage.executions.run(workflow, trigger),
				15 * minutes,
				1000,
			);
			awake.push(...awakeTimes());
			expect([again.status, errorOf(again)]).toEqual(['success', '']);
			const ids = itemsOf(again, 'Images').map(({ json }) => json.id);
			const charged = prompts.map((prompt) =>
				stage.sandbox.books.generations.filter((one) => one.prompt === prompt && !one.refunded),
			);
			expect(charged.map((made) => made.length)).toEqual(prompts.map(() => 1));
			expect(ids).toEqual(charged.map(([made]) => made.id));
			process.stdout.write(
				`Supervisors that were hit: ${JSON.stringify(toll)}; awake for ${awake.join(', ')} ms\n${errors.splice(0).join('\n')}\n`,
			);
		}
		expect(toll.kills).toBe(KILLS);
	},
	(KILLS * 30 + 5) * minutes,
);
