import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { requireBalance, type Credits } from '../../client/wire/credits';
import type { GenerationService } from '../../client/wire/service';
import { asTool, sharedDescription } from '../shared/description';
import { runLookups } from '../shared/lookup';
import { creditsHint } from '../shared/report';
import { creditsFields } from './fields';
import { readCreditsForm, type Operation } from './request';

/** Reads the balance, or the summary of 30 days (spec 4.5, 4.6). */
export class GenerationCredits implements INodeType {
	description: INodeTypeDescription = {
		...sharedDescription,
		displayName: 'Generation Credits',
		name: 'generationCredits',
		icon: {
			light: 'file:../../icons/generationCredits.svg',
			dark: 'file:../../icons/generationCredits.dark.svg',
		},
		group: ['input'],
		subtitle: '={{ $parameter["operation"] === "getSummary" ? "Get Summary" : "Get Balance" }}',
		description: 'Read the credit balance, or what was spent in the last 30 days',
		defaults: { name: 'Generation Credits' },
		usableAsTool: asTool(
			'Read how many credits are left, or what was spent in the last 30 days. Charges nothing.',
		),
		properties: creditsFields,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		// The account is the same for all items, so it is asked once.
		const asked = new Map<Operation, Promise<Credits>>();
		const output = await runLookups(this, async (service, itemIndex) => [
			await readCredits(this, service, itemIndex, asked),
		]);
		creditsHint(this, output[0][0]?.json.balance);
		return output;
	}
}

async function readCredits(
	context: IExecuteFunctions,
	service: GenerationService,
	itemIndex: number,
	asked: Map<Operation, Promise<Credits>>,
): Promise<Credits> {
	const { operation, minimum } = readCreditsForm(context, itemIndex);
	const answer =
		asked.get(operation) ?? (operation === 'getSummary' ? service.summary() : service.balance());
	asked.set(operation, answer);
	const credits = await answer;
	if (minimum !== null) requireBalance(credits, minimum);
	return { ...credits };
}
