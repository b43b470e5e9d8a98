import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { balanceBelow, type Credits } from '../../client/api/client';
import { sharedDescription } from '../shared/form/description';
import { entriesOf, formOf, readForm } from '../shared/form/form';
import { testCredential } from '../shared/http/credential-test';
import { stepIn, type Step } from '../shared/step';
import { runLookups, type Lookups } from '../shared/run/lookup';
import { creditsFields } from './fields';

const entries = entriesOf(creditsFields);

/** The Generation Credits node: reads the balance or the 30-day summary (spec 4.5, 4.6). */
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
		description: 'Read the credit balance, or the spending of the last 30 days',
		defaults: { name: 'Generation Credits' },
		credentials: [{ name: 'mediaGenerationApi', required: true, testedBy: 'testCredential' }],
		usableAsTool: {
			replacements: {
				description:
					'Read how many credits are left, or the spending of the last 30 days. At no charge.',
			},
		},
		properties: formOf(creditsFields),
	};

	methods = { credentialTest: { testCredential } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const step = stepIn(this);
		return await runLookups(step, async (lookups, itemIndex) => [
			await readCredits(step, lookups, itemIndex),
		]);
	}
}

async function readCredits(step: Step, lookups: Lookups, itemIndex: number): Promise<Credits> {
	const form = readForm(step, itemIndex, entries);
	const minimum = form.minimumBalance as number | null;
	const credits = await (form.operation === 'getSummary' ? lookups.summary() : lookups.balance());
	if (minimum !== null && credits.balance < minimum) {
		throw balanceBelow(credits.balance, minimum, 'Minimum Balance');
	}
	return credits;
}
