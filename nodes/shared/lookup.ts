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

/**
 * Runs a node that only reads: each item is answered with the service's own entries, one output item each, paired.
 * After a stop it returns what it has.
 *
 * @param look answers one item; throws `GenerationError`
 * @throws NodeApiError for the first item that fails, unless On Error continues
 */
export async function runLookups(
	context: IExecuteFunctions,
	look: (service: GenerationService, itemIndex: number) => Promise<object[]>,
): Promise<INodeExecutionData[][]> {
	const service = new GenerationService({
		send: connect(context),
		clock: wallClock,
		random: Math.random,
		signal: cancelSignal(context),
	});
	const items: INodeExecutionData[] = [];
	for (let itemIndex = 0; itemIndex < context.getInputData().length; itemIndex++) {
		const looked = await attempt(async () => await look(service, itemIndex));
		if (looked.ok) {
			const pairedItem = { item: itemIndex };
			items.push(...looked.value.map((entry) => ({ json: entry as IDataObject, pairedItem })));
			continue;
		}
		if (looked.error instanceof CancelledError) break;
		const error = errorOfJob(looked.error, null);
		if (!continuesOnError(context)) throw stepError(context, error, itemIndex, []);
		items.push(errorItem(context, error, itemIndex));
	}
	return [items];
}
