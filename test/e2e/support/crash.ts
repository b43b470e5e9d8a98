import { setTimeout as delay } from 'node:timers/promises';
import { itemsOf } from '../../../tools/n8n/executions';
import type { Stage } from './stage';
import { until } from './until';
import type { Webhook } from './webhook';
import { imageNode, promptsNamed } from './workflows';

export const MAX_CONCURRENT = 10;

/** Responses are slow, so that some are in flight when the process is killed. */
export const latency = { timeScale: 10, latencyMs: () => Math.random() * 200 };

/** A step whose items have idempotency keys. */
export const keyed = imageNode(
	{ idempotencyKey: '={{ $json.prompt }}', maxConcurrent: MAX_CONCURRENT },
	{ onError: 'continueRegularOutput' },
);

/** The damage from killed processes: of one round, or the sum of many. */
export interface Toll {
	rounds: number;
	items: number;
	/** Generations made before the process was killed. */
	made: number;
	/** Of those, the generations that the second run returned without paying again. */
	takenUp: number;
	/** Items of the second run whose charge is unknown. */
	uncertain: number;
	/** Creating requests that reached the service within the second before the kill. */
	onTheWire: number;
	/** Prompts that were charged more than once. */
	twice: number;
	/** Generations that were charged, but are neither returned nor reported as uncertain. */
	lost: number;
}

const noToll: Toll = {
	rounds: 0,
	items: 0,
	made: 0,
	takenUp: 0,
	uncertain: 0,
	onTheWire: 0,
	twice: 0,
	lost: 0,
};

export function sum(tolls: Toll[]): Toll {
	const names = Object.keys(noToll) as Array<keyof Toll>;
	return tolls.reduce(
		(total, toll) =>
			Object.fromEntries(names.map((name) => [name, total[name] + toll[name]])) as unknown as Toll,
		noToll,
	);
}

/**
 * Starts a batch, kills its process at a random moment, and runs the same rows again.
 * Throws if the second run neither pays for a row nor reports it as uncertain.
 *
 * @param kill kills the process that runs the execution. Resolves as soon as another process can take the next
 *   execution, with the time of the kill in milliseconds since the Unix epoch
 * @param random chooses the moment
 */
export async function crashRound(
	{ stage, webhook, name }: { stage: Stage; webhook: Webhook; name: string },
	items: number,
	kill: (execution: string) => Promise<number>,
	random: () => number,
): Promise<Toll> {
	const { books, requests } = stage.sandbox;
	const prompts = promptsNamed(name, items);
	const calledAt = Date.now();
	const execution = await webhook.call(prompts);
	const sent = () => requests.on('create').filter(({ at }) => at >= calledAt).length;
	const after = 1 + Math.floor(random() * items);
	await until('the batch is under way', () => sent() >= after);
	await delay(random() * 500);
	const diedAt = await kill(execution);
	const onTheWire = requests
		.on('create')
		.filter(({ at }) => at <= diedAt && at > diedAt - 1000).length;

	const outputs = itemsOf(await webhook.run(prompts), 'Images');
	const tolls = prompts.map((prompt, index) => {
		const json = outputs[index]?.json ?? {};
		const paid = books.generations.filter((one) => one.prompt === prompt && one.refunded === 0);
		const uncertain = json.error_code === 'uncertain_charge';
		// Makes sure that a row that is neither returned nor uncertain was charged.
		if (paid.length === 0 && !uncertain) {
			throw new Error(`${prompt} has come to nothing: ${JSON.stringify(json)}`);
		}
		return {
			uncertain,
			twice: paid.length > 1,
			handedOn: json.id !== undefined && paid.some(({ id }) => id === json.id),
			before: paid.some(({ created }) => created <= diedAt),
		};
	});
	const count = (check: (toll: (typeof tolls)[number]) => boolean) => tolls.filter(check).length;
	return {
		rounds: 1,
		items,
		made: count(({ before }) => before),
		takenUp: count(({ handedOn, before }) => handedOn && before),
		uncertain: count(({ uncertain }) => uncertain),
		onTheWire,
		twice: count(({ twice }) => twice),
		lost: count(({ handedOn, uncertain }) => !handedOn && !uncertain),
	};
}
