import { setTimeout as delay } from 'node:timers/promises';
import { itemsOf } from '../../../tools/n8n/executions';
import type { Stage } from './stage';
import { until } from './until';
import type { Webhook } from './webhook';
import { promptsNamed } from './workflows';

/** What a killed process has cost: one round, or the sum of many. */
export interface Toll {
	rounds: number;
	items: number;
	/** Generations made before the process was killed. */
	made: number;
	/** Of those, handed on by the second run without being paid again. */
	takenUp: number;
	/** Items of the second run of which nobody knows whether they were charged. */
	uncertain: number;
	/** Creating requests that had reached the service within the second before. */
	onTheWire: number;
	/** Prompts that were paid more than once. */
	twice: number;
	/** Generations that were paid, and are neither handed on nor said to be uncertain. */
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
 * A batch comes in, the process that runs it is killed at a random moment, and the same rows come in again.
 * Throws where the second run neither pays for a row nor says that it is uncertain.
 *
 * @param kill of the process that has the execution; resolves once there is one again that can take the next, with the
 *   moment of its death in milliseconds since the Unix epoch
 * @param random which moment
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
	await until('the batch is under way', () => sent() >= after, 60_000);
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
		// So that what is neither handed on nor uncertain was paid.
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
