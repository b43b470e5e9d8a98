import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { number, oneOf } from '../../client/input/checks';
import { requireBalance } from '../../client/wire/credits';
import type { GenerationService } from '../../client/wire/service';
import { sharedDescription } from '../shared/description';
import { optionsField } from '../shared/fields';
import { runLookups } from '../shared/lookup';
import { given, optionsOf } from '../shared/parameters';
import { creditsHint } from '../shared/report';

const OPERATIONS = ['getBalance', 'getSummary'] as const;
type Operation = (typeof OPERATIONS)[number];

/** The service's own entry (spec 2.3, 2.4). */
type Credits = Record<string, unknown>;

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
		subtitle:
			'={{$parameter["operation"] === "getSummary" ? "get the summary" : "get the balance"}}',
		description: 'Read the credit balance, or what was spent in the last 30 days',
		defaults: { name: 'Generation Credits' },
		usableAsTool: true,
		properties: [
			{
				displayName: 'Operation',
				name: 'operation',
				type: 'options',
				noDataExpression: true,
				options: [
					{
						name: 'Get Balance',
						value: 'getBalance',
						action: 'Get the balance',
						description: 'Read the credits that are left',
					},
					{
						name: 'Get Summary',
						value: 'getSummary',
						action: 'Get the summary',
						description: 'Read what was spent in the last 30 days, by media type and model',
					},
				],
				default: 'getBalance',
			},
			optionsField([
				{
					displayName: 'Minimum Balance',
					name: 'minimumBalance',
					type: 'number',
					typeOptions: { minValue: 0 },
					default: 0,
					placeholder: 'e.g. 100',
					description:
						'Fail when fewer credits than this are left, so that a batch stops before it spends',
				},
			]),
		],
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
	const { minimumBalance } = optionsOf(context, itemIndex);
	const minimum = given(minimumBalance) ? number('Minimum Balance', minimumBalance) : null;
	const operation = oneOf(
		'Operation',
		context.getNodeParameter('operation', itemIndex, 'getBalance'),
		OPERATIONS,
	);
	const answer =
		asked.get(operation) ?? (operation === 'getSummary' ? service.summary() : service.balance());
	asked.set(operation, answer);
	const credits = await answer;
	if (minimum !== null) requireBalance(credits, minimum);
	return { ...credits };
}
