import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { number, oneOf } from '../../client/checks';
import { requireBalance } from '../../client/credits';
import type { GenerationService } from '../../client/service';
import { runLookups } from '../shared/lookup';
import { given, optionsOf } from '../shared/parameters';
import { CREDENTIAL } from '../shared/transport';

export class GenerationCredits implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Generation Credits',
		name: 'generationCredits',
		icon: {
			light: 'file:../../icons/generationCredits.svg',
			dark: 'file:../../icons/generationCredits.dark.svg',
		},
		group: ['input'],
		version: 1,
		subtitle:
			'={{$parameter["operation"] === "getSummary" ? "get the summary" : "get the balance"}}',
		description: 'Read the credit balance, or what was spent in the last 30 days',
		defaults: { name: 'Generation Credits' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
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
			{
				displayName: 'Options',
				name: 'options',
				type: 'collection',
				placeholder: 'Add Option',
				default: {},
				options: [
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
				],
			},
		],
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runLookups(this, async (service, itemIndex) => [
			await readCredits(this, service, itemIndex),
		]);
	}
}

async function readCredits(
	context: IExecuteFunctions,
	service: GenerationService,
	itemIndex: number,
): Promise<object> {
	const operation = context.getNodeParameter('operation', itemIndex, 'getBalance');
	const { minimumBalance } = optionsOf(context, itemIndex);
	const minimum = given(minimumBalance) ? number('Minimum Balance', minimumBalance) : null;
	const operations = ['getBalance', 'getSummary'] as const;
	const credits =
		oneOf('Operation', operation, operations) === 'getSummary'
			? await service.summary()
			: await service.balance();
	if (minimum !== null) requireBalance(credits, minimum);
	return credits;
}
