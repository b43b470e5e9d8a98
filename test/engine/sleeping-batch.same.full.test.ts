import type { IDataObject } from 'n8n-workflow';

import { openComparison } from './polled-and-asleep';

/** A sleeping batch returns what a polling step returns, and keeps to the same limits. */

const { stage, compare, execute } = openComparison();

const continues = { onError: 'continueRegularOutput' };
/** n8n throws for a reference to a node that does not exist. */
const failing = "$('Nowhere').item.json.x";
const boats = (count: number, seconds = 100): IDataObject[] =>
	Array.from({ length: count }, (_, index) => ({
		key: `k${index}`,
		index,
		prompt: `boat ${index} [seconds: ${seconds}]`,
	}));
const [boat, ship, raft] = boats(3);
const broken = { ...ship, prompt: 'a ship [seconds: 100] [fail: out of paint]' };
const rejected = { ...ship, key: 'r', prompt: 'a ship [reject: invalid_parameter]' };

describe('a batch returns the same items asleep as polled', () => {
	it.each<[string, Parameters<typeof compare>[0]]>([
		['failed and rejected items', { list: [boat, broken, raft, rejected], settings: continues }],
		[
			'input fields, also of failed items and with names of ours',
			{
				list: [boat, broken, rejected].map((item) => ({
					...item,
					...{ id: 7, error: 'none', error_code: 'c', status: 'new', state: { of: ['CA'] } },
				})),
				options: { includeOtherFields: true },
				settings: continues,
			},
		],
		[
			'input fields of an item whose expression fails',
			{
				list: boats(3),
				options: {
					includeOtherFields: true,
					fileName: `={{ $json.index === 1 ? ${failing} : "f" }}`,
				},
				settings: continues,
			},
		],
		[
			'files with names by expressions',
			{
				list: boats(3),
				parameters: {
					downloadOutput: '={{ $json.index !== 1 }}',
				},
				options: {
					binaryPropertyName: '={{ "file" + $json.index }}',
					fileName: '={{ $json.index ? "boat" : "" }}',
				},
			},
		],
		[
			'retries of failed generations',
			{
				list: [boat, broken, raft],
				runOptions: { retriesOnFailure: 1 },
				settings: continues,
			},
		],
		[
			'retries of failed generations, and then a fallback model',
			{
				list: [boat, broken, raft],
				runOptions: { retriesOnFailure: 1, fallbackModels: ['aurora-image-1'] },
				options: { size: '256x256' },
				settings: continues,
			},
		],
		[
			'fallback models',
			{
				list: boats(3),
				runOptions: { fallbackModels: ['no-model', 'aurora-image-1'] },
				parameters: { model: { __rl: true, mode: 'id', value: 'no-model-either' } },
				options: { size: '256x256' },
			},
		],
		[
			'items that Limit New Generations does not allow, with On Error = Stop',
			{ list: boats(5), runOptions: { maxNewGenerations: 3 } },
		],
	])('%s', async (_, batch) => {
		const { polled, asleep } = await compare(batch);
		expect([polled.hasSlept, asleep.hasSlept]).toEqual([false, true]);
		expect(asleep.output).toEqual(polled.output);
		expect(asleep.created).toBe(polled.created);
	});

	it('the first ones up to the limit, although the first creating request is sent again', async () => {
		const before = () =>
			stage.sandbox.faults.order({
				on: 'create',
				action: { kind: 'error', code: 'service_unavailable' },
			});
		const runOptions = { maxNewGenerations: 2, maxConcurrent: 5 };
		const { polled, asleep } = await compare({ list: boats(5), runOptions, before });
		expect(asleep.hasSlept).toBe(true);
		expect(asleep.output).toEqual(polled.output);
		const created = stage.sandbox.books.generations.map(({ prompt }) => prompt.slice(0, 6));
		expect(created.sort()).toEqual(['boat 0', 'boat 1']);
	});
});

it('an error that ends a batch is the same, but advises no retry after a sleep: n8n would only show it again', async () => {
	const { polled, asleep } = await compare({ list: [boat, broken, raft] });
	const [message, description] = polled.error as string[];
	const [messageAsleep, descriptionAsleep] = asleep.error as string[];
	expect([asleep.hasSlept, messageAsleep]).toEqual([true, message]);
	expect(description).toContain('Use “Retry with currently saved workflow”');
	expect(descriptionAsleep).not.toContain('currently saved');
	expect(descriptionAsleep).toMatch(
		/Charged: ID .*Run the same items in a new execution: charged generations are reused\. If an item fails again, set On Error to Continue to get the others\. Retry in the executions list only shows this error again\.$/,
	);
});

describe('a batch keeps to its limits asleep as polled', () => {
	it.each<[string, Parameters<typeof compare>[0]]>([
		['in all of its waves', { list: boats(5, 300) }],
		[
			'with retries',
			{
				list: [...boats(3, 300), { ...broken, key: 'b' }],
				runOptions: { retriesOnFailure: 1 },
				settings: continues,
			},
		],
		[
			'if a run option of the first item fails',
			{
				list: boats(5, 300),
				runOptions: { timeout: `={{ $json.index === 0 ? ${failing} : 500 }}` },
				settings: continues,
			},
		],
	])('Max Concurrent: %s', async (_, batch) => {
		const { polled, asleep } = await compare(batch);
		expect(asleep.hasSlept).toBe(true);
		expect([polled.mostInFlight, asleep.mostInFlight]).toEqual([2, 2]);
	});
});

describe('a batch that ends before it sleeps has the same hints and errors as a polled one', () => {
	/** Generations this short end before the step decides to sleep, as long as time runs slowly. */
	const quick = boats(3, 0.1);
	const slowly = () => stage.setPace(5);
	const made = async (list: IDataObject[]) => {
		slowly();
		const options = { idempotencyKey: '={{ $json.key }}' };
		await execute(list, { options, downloadOutput: false });
	};
	const lost = () => {
		slowly();
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
	};

	it.each<[string, Parameters<typeof compare>[0]]>([
		['created', { list: quick, before: slowly }],
		[
			'created and reused, with a changed request',
			{
				list: quick,
				before: async () => await made([quick[0], { ...quick[1], prompt: 'other [seconds: 0.1]' }]),
			},
		],
		['with Stop Below Balance', { list: quick, runOptions: { minimumBalance: 1 }, before: slowly }],
		[
			'resubmitted after a lost response',
			{ list: quick, runOptions: { onUncertainCharge: 'resubmit' }, before: lost },
		],
		['with an uncertain charge', { list: quick, settings: continues, before: lost }],
		['rejected', { list: [quick[0], rejected, quick[2]], settings: continues, before: slowly }],
	])('%s', async (_, batch) => {
		const { polled, asleep } = await compare(batch);
		expect(asleep.hasSlept).toBe(false);
		expect(asleep.hints).toEqual(polled.hints);
		expect([asleep.output, asleep.error]).toEqual([polled.output, polled.error]);
		expect(asleep.created).toBe(polled.created);
	});
});
