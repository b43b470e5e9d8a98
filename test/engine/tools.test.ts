import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import { listModels } from '../../sandbox/models/catalogue';
import { everythingIn } from '../support/everything';
import { ownType } from '../support/workflow';
import type { NodeName } from '../support/workflow';
import { byId, openStage } from './stage';
import type { ToolPath } from './support/agent';

const stage = openStage();

const prompt = "={{ $fromAI('prompt', 'what to make', 'string') }}";
const image = { model: byId('lumen-turbo'), prompt, options: { size: '64x64' } };
const video = {
	model: byId('aurora-motion-1'),
	prompt,
	resolution: '480p',
	duration: "={{ $fromAI('seconds', 'how long', 'number') }}",
	options: { fps: 12 },
};

describe.each<ToolPath>(['invoke', 'engine'])('as the tool of an agent, on the path %s', (path) => {
	const call = async (
		node: NodeName,
		parameters: INodeParameters,
		args: IDataObject | IDataObject[],
		settings: Partial<INode> = {},
	) => {
		const options = { credentials: stage.credentials(), path, node: settings };
		const { calls, run } = await stage.engine.runAsTool(ownType(node), parameters, args, options);
		const answers = calls.map(({ response }) => JSON.parse(response) as unknown);
		return { run, answers };
	};
	const completed = () =>
		stage.sandbox.books.generations.map((made) => [
			stage.promised({ ...made, state: 'completed' }),
		]);

	it.each<[NodeName, INodeParameters]>([
		['imageGeneration', image],
		[
			'imageGeneration',
			{ ...image, downloadOutput: true, options: { binaryPropertyName: 'picture' } },
		],
		['imageGeneration', { ...image, options: { size: '64x64', fileName: 'lighthouse' } }],
		['videoGeneration', video],
		['videoGeneration', { ...video, downloadOutput: true }],
	])('%s returns JSON and never a file: %j', async (node, parameters) => {
		const { run, answers } = await call(node, parameters, { prompt: 'A boat', seconds: 0.5 });
		expect(run.error).toBeUndefined();
		expect(answers).toEqual(completed());
		expect(stage.sandbox.books.generations).toMatchObject([{ prompt: 'A boat' }]);
		expect(stage.sandbox.requests.on('download')).toEqual([]);
		expect(everythingIn(run.runData)).not.toMatch(/\bbinary\b/);
	});

	it.each(['poll', 'check'])('waitForCompletion does so too: %s', async (mode) => {
		const id = await stage.made('[seconds: 0] A boat');
		const generationId = "={{ $fromAI('id', 'which', 'string') }}";
		const parameters = { generationId, mode, downloadOutput: true };
		const { run, answers } = await call('waitForCompletion', parameters, { id });
		expect(answers).toEqual(completed());
		expect(stage.sandbox.requests.on('download')).toEqual([]);
		expect(everythingIn(run.runData)).not.toMatch(/\bbinary\b/);
	});

	it('models and credits are returned as the service sends them', async () => {
		const models = await call('generationModels', { type: 'image', returnAll: true }, {});
		expect(models.answers).toEqual([listModels('image')]);
		const credits = await call('generationCredits', {}, {});
		expect(credits.answers).toMatchObject([[{ object: 'credit_balance', balance: 100_000 }]]);
	});

	it('each call generates its own output, even for the same prompt', async () => {
		const args = [{ prompt: 'A boat' }, { prompt: 'A boat' }, { prompt: 'A ship' }];
		const { answers } = await call('imageGeneration', image, args);
		expect(answers).toEqual(completed());
		expect(stage.sandbox.books.liveChargesFor('A boat')).toBe(2);
		expect(stage.sandbox.books.totals.created).toBe(3);
	});

	it('an error tells the agent the reason once, and what to do', async () => {
		const options = { credentials: stage.credentials(), path };
		const wrong = { ...image, model: byId('nothing') };
		const order = [ownType('imageGeneration'), wrong, { prompt: 'A boat' }, options] as const;
		const { calls, run } = await stage.engine.runAsTool(...order);
		const said = run.error?.message ?? calls[0].response;
		expect(said.split('Model nothing not found.')).toHaveLength(2);
		expect(said).toContain('Choose a model from the list');
	});

	it('a retry of one call reuses the generation that was charged', async () => {
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const parameters = { ...image, runOptions: { timeout: 10, onTimeout: 'error' } };
		const args = { prompt: 'A boat [seconds: 25]' };
		const { answers } = await call('imageGeneration', parameters, args, settings);
		expect(stage.sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
		expect(answers).toEqual(completed());
	});

	it.each<[NodeName, INodeParameters]>([
		['imageGeneration', image],
		['videoGeneration', { ...video, duration: 0.5 }],
	])('%s answers within 45 seconds, with the id to wait for', async (node, parameters) => {
		const { answers } = await call(node, parameters, { prompt: 'A boat [seconds: 90]' });
		const [made] = stage.sandbox.books.generations;
		expect(answers).toMatchObject([
			[{ id: made.id, timed_out: true, url: expect.stringMatching(/^http/) as string }],
		]);
		const sent = stage.sandbox.requests.on('create')[0].at;
		const last = stage.sandbox.requests.all.at(-1)?.at ?? 0;
		expect(last - sent).toBeLessThan(50_000);
		const wait = { generationId: "={{ $fromAI('id', 'which', 'string') }}" };
		const again = await call('waitForCompletion', wait, { id: made.id });
		const end = await call('waitForCompletion', wait, { id: made.id });
		expect([again.answers, end.answers].flat(2)).toContainEqual(
			expect.objectContaining({ id: made.id, status: 'completed', timed_out: false }),
		);
		expect(stage.sandbox.books.totals.created).toBe(1);
	});

	describe('a call ends within a minute', () => {
		const within = async (calling: () => ReturnType<typeof call>) => {
			const began = wallClock.now();
			const { run, answers } = await calling();
			expect(wallClock.now() - began).toBeLessThan(60_000);
			return everythingIn([run.error, answers]);
		};
		const settings = { onError: 'continueRegularOutput' as const };

		it('if the service does not answer the creating request: it may have been charged', async () => {
			stage.sandbox.faults.order({ on: 'create', action: { kind: 'hang', work: true } });
			const said = await within(
				async () => await call('imageGeneration', image, { prompt: 'A boat' }, settings),
			);
			expect(said).toContain('uncertain_charge');
		});

		it('in all of its attempts together, if the balance gets no answer', async () => {
			stage.sandbox.faults.order({ on: 'credits', action: { kind: 'hang' }, times: 100 });
			const limited = { ...image, runOptions: { minimumBalance: 1 } };
			const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
			const said = await within(
				async () => await call('imageGeneration', limited, { prompt: 'A boat' }, again),
			);
			expect(said).toContain('The tool stopped, because there was no response in time');
			expect(stage.sandbox.books.generations).toEqual([]);
		});

		it.each<[NodeName, 'models' | 'credits']>([
			['generationModels', 'models'],
			['generationCredits', 'credits'],
		])('if %s gets no answer', async (node, on) => {
			stage.sandbox.faults.order({ on, action: { kind: 'hang' }, times: 100 });
			const said = await within(async () => await call(node, {}, {}, settings));
			expect(said).toContain('The tool stopped, because there was no response in time');
		});
	});

	it('Timeout and On Timeout are as the user has set them', async () => {
		const patient = { ...image, runOptions: { timeout: 200, onTimeout: 'error' } };
		const { answers } = await call('imageGeneration', patient, { prompt: 'A boat [seconds: 90]' });
		expect(answers).toEqual(completed());
		const hasty = { ...image, runOptions: { timeout: 5, onTimeout: 'error' } };
		const { run } = await call('imageGeneration', hasty, { prompt: 'A ship [seconds: 90]' });
		expect(everythingIn([run.error, run.runData])).toContain('did not finish within 5 s');
	});

	it('a retry of one call does not resend a request whose response was lost', async () => {
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		await call('imageGeneration', image, { prompt: 'A boat' }, settings);
		expect(stage.sandbox.requests.on('create')).toHaveLength(1);
	});
});
