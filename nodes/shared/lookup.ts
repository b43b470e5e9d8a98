import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { attempt } from '../../client/basics/attempt';
import { CancelledError } from '../../client/wire/errors';
import { errorOfJob } from '../../client/jobs/outcome';
import { GenerationService } from '../../client/wire/service';
import { wallClock } from './clock';
import { cancelSignal, continuesOnError } from './execution';
import { stepError } from './node-error';
import { errorItem } from './results';
import { connect } from './transport';

/** What can be looked up. It is the same for all items of a step, so each question is asked once. */
export type Lookups = Pick<GenerationService, 'models' | 'balance' | 'summary'>;

/**
 * Runs a node that only reads: each item is answered with the service's own entries, one output item each, paired.
 * After a stop it returns what it has.
 *
 * @param look answers one item; throws `GenerationError`
 * @throws NodeApiError for the first item that fails, unless On Error continues
 */
export async function runLookups(
	context: IExecuteFunctions,
	look: (lookups: Lookups, itemIndex: number) => Promise<object[]>,
): Promise<INodeExecutionData[][]> {
	const service = new GenerationService({
		send: connect(context),
		clock: wallClock,
		random: Math.random,
		signal: cancelSignal(context),
	});
	const lookups = askingOnce(service);
	const items: INodeExecutionData[] = [];
	for (let itemIndex = 0; itemIndex < context.getInputData().length; itemIndex++) {
		const looked = await attempt(async () => await look(lookups, itemIndex));
		if (looked.ok) {
			const pairedItem = { item: itemIndex };
			for (const entry of looked.value)
				items.push({ json: { ...entry } as IDataObject, pairedItem });
			continue;
		}
		if (looked.error instanceof CancelledError) break;
		const error = errorOfJob(looked.error, null);
		if (!continuesOnError(context)) throw stepError(context, error, itemIndex, []);
		items.push(errorItem(context, error, itemIndex));
	}
	return [items];
}

function askingOnce(service: GenerationService): Lookups {
	return {
		models: once(async (type) => await service.models(type)),
		balance: once(async () => await service.balance()),
		summary: once(async () => await service.summary()),
	};
}

/** Remembers the answers, refusals included, by what was asked about. */
function once<About, Answer>(ask: (about?: About) => Promise<Answer>) {
	const answers = new Map<About | undefined, Promise<Answer>>();
	return async (about?: About): Promise<Answer> => {
		const answer = answers.get(about) ?? ask(about);
		answers.set(about, answer);
		return await answer;
	};
}
