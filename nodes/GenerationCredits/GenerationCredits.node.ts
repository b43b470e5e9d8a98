import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { number, oneOf } from '../../client/input/checks';
import { InvalidInputError } from '../../client/wire/errors';
import { requireBalance } from '../../client/wire/credits';
import type { GenerationService } from '../../client/wire/service';
import { sharedDescription } from '../shared/description';
import { collection, readForm, type Form } from '../shared/form';
import { runLookups } from '../shared/lookup';
import { given } from '../shared/parameters';
import { creditsHint } from '../shared/report';
import { creditsFields } from './fields';

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
	const form = readForm(context, itemIndex, creditsFields);
	const minimum = minimumBalance(context, collection(form, 'options'));
	const operation = oneOf('Operation', form.operation ?? 'getBalance', OPERATIONS);
	const answer =
		asked.get(operation) ?? (operation === 'getSummary' ? service.summary() : service.balance());
	asked.set(operation, answer);
	const credits = await answer;
	if (minimum !== null) requireBalance(credits, minimum);
	return { ...credits };
}

/** `null` where there is none. One that is worked out guards a batch: it must not stop doing so where it comes out empty. */
function minimumBalance(context: IExecuteFunctions, options: Form): number | null {
	if (given(options.minimumBalance)) return number('Minimum Balance', options.minimumBalance);
	if (!isWorkedOut(context, 'minimumBalance')) return null;
	throw new InvalidInputError(
		'Minimum Balance came out empty, so that nothing would be guarded',
		'Check that the expression has a value for this item, or remove the option where there is nothing to guard.',
	);
}

function isWorkedOut(context: IExecuteFunctions, option: string): boolean {
	const written = (context.getNode().parameters.options as Form | undefined)?.[option];
	return typeof written === 'string' && written.startsWith('=');
}
