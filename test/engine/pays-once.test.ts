import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { binaryOf, byId, openStage, prompts, sha256 } from './stage';

const stage = openStage();

const plain = { downloadOutput: false };
const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const goOn = { onError: 'continueRegularOutput' as const };

const liveCharges = (texts: string[]) =>
	texts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
const timesSent = (prompt: string) =>
	stage.sandbox.books.generations.filter((made) => made.prompt === prompt).length;

describe('Retry On Fail', () => {
	it('creates only the failed item, and reuses existing generations', async () => {
		const texts = [
			'a boat',
			'a ship [seconds: 9]',
			'a raft [reject: invalid_parameter 1]',
			'a dinghy',
		];
		const run = await stage.run(
			'imageGeneration',
			{},
			{ items: prompts(...texts), settings: again },
		);
		expect(run.status).toBe('success');
		expect(liveCharges(texts)).toEqual([1, 1, 1, 1]);
		expect(stage.sandbox.books.totals.created).toBe(4);
		for (const [index, item] of run.output('Step').entries()) {
			const id = String(item.json.id);
			expect(stage.sandbox.books.find(id)?.prompt).toBe(texts[index]);
			expect(sha256(await run.binary(binaryOf(item)))).toBe(sha256(await stage.served(id)));
		}
		expect(run.hints('Step')).toMatchObject([
			{
				message: expect.stringMatching(/^4 of 4 ready\. 3 reused, no charge/),
			},
		]);
	});

	it('also reuses a generation whose expression returns another value in each attempt', async () => {
		const parameters = {
			...plain,
			model: byId('aurora-image-1'),
			options: { seed: '={{ Math.floor(Math.random() * 1e9) }}' },
		};
		const texts = ['a boat', 'a ship [reject: invalid_parameter 1]'];
		const order = { items: prompts(...texts), settings: again };
		const run = await stage.run('imageGeneration', parameters, order);
		expect(run.status).toBe('success');
		expect(liveCharges(texts)).toEqual([1, 1]);
		expect(stage.sandbox.books.totals.created).toBe(2);
	});

	it('does not resend a request that may have been charged, even if the expression has changed', async () => {
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
		const prompt = '={{ $json.prompt + Math.random() }}';
		const order = { items: prompts('a boat'), settings: again };
		const run = await stage.run('imageGeneration', { ...plain, prompt }, order);
		expect(run.error).toMatchObject({ context: { code: 'uncertain_charge' } });
		expect(stage.sandbox.requests.on('create')).toHaveLength(1);
	});

	it.each([goOn, { onError: 'continueErrorOutput' as const }])(
		'does not pay again because the first item has an error: %j',
		async (going) => {
			const texts = ['a boat [fail]', 'a ship', 'a raft'];
			const order = { items: prompts(...texts), settings: { ...again, ...going } };
			const run = await stage.run('imageGeneration', plain, order);
			expect(run.status).toBe('success');
			expect(timesSent('a boat [fail]')).toBe(3);
			expect(liveCharges(texts)).toEqual([0, 1, 1]);
			expect(stage.sandbox.books.totals.created).toBe(5);
			const handedOn = [...run.output('Step'), ...run.output('Step', 1)];
			expect(handedOn.map(({ json }) => json.error_code ?? json.status).sort()).toEqual([
				'completed',
				'completed',
				'generation_failed',
			]);
		},
	);
});

describe('"Retry execution"', () => {
	it('reuses what the failed execution was charged for', async () => {
		const texts = ['a boat', 'a ship [seconds: 30]', 'a raft [reject: invalid_parameter 1]'];
		const failed = await stage.run('imageGeneration', {}, { items: prompts(...texts) });
		expect(failed.status).toBe('error');
		const retried = await stage.engine.retry(failed);
		expect(retried.status).toBe('success');
		expect(liveCharges(texts)).toEqual([1, 1, 1]);
		expect(stage.sandbox.books.totals.created).toBe(3);
		expect(retried.output('Step').map(({ json }) => json.status)).toEqual(
			texts.map(() => 'completed'),
		);
	});

	it('names charged generations even if a parameter was changed to an invalid value', async () => {
		const texts = ['a boat', 'a raft [reject: invalid_parameter]'];
		const failed = await stage.run('imageGeneration', plain, { items: prompts(...texts) });
		const prompt = '={{ $json.prompt }}';
		const parameters = { ...plain, model: byId('lumen-turbo'), prompt, options: { size: 'large' } };
		const workflow = inARow(ownNode('Step', 'imageGeneration', parameters));
		const retried = await stage.engine.retry(failed, { workflow });
		const { id } = stage.sandbox.books.generations[0];
		expect(retried.error).toMatchObject({
			description: expect.stringContaining(id) as string,
			context: { code: 'invalid_input' },
		});
	});

	it('pays for each run of a loop, and for none of them twice', async () => {
		const prompt = 'a boat';
		const step = ownNode('Step', 'imageGeneration', {
			...plain,
			model: byId('lumen-turbo'),
			prompt,
			options: { size: '64x64' },
		});
		const type = 'n8n-nodes-base.noOp';
		const workflow = inARow({ name: 'One', type }, { name: 'Two', type }, step);
		const to = (node: string) => ({ node, type: 'main' as const, index: 0 });
		workflow.connections = {
			Start: { main: [[to('One'), to('Two')]] },
			One: { main: [[to('Step')]] },
			Two: { main: [[to('Step')]] },
		};
		// The second of three items in the second of two runs is rejected.
		const action = { kind: 'error', code: 'invalid_parameter' } as const;
		stage.sandbox.faults.order({ on: 'create', skip: 4, action });
		const failed = await stage.runWorkflow(workflow, { items: [{}, {}, {}] });
		expect([failed.status, failed.runData.Step.length]).toEqual(['error', 2]);
		const retried = await stage.engine.retry(failed);
		expect(retried.status).toBe('success');
		expect(stage.sandbox.books.liveChargesFor(prompt)).toBe(6);
		const ids = retried.runData.Step.flatMap(({ data }) => data?.main[0] ?? []).map(
			({ json }) => json.id,
		);
		expect(new Set(ids).size).toBe(6);
	});
});
