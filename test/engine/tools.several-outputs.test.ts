import type { INodeParameters } from 'n8n-workflow';

import { ownType } from '../support/workflow';
import { byId, openStage } from './stage';
import type { ToolPath } from './support/agent';

const stage = openStage();

const prompt = "={{ $fromAI('prompt', 'what to make', 'string') }}";
const two = {
	model: byId('lumen-turbo'),
	prompt,
	numberOfOutputs: 2,
	options: { size: '64x64' },
};

describe.each<ToolPath>(['invoke', 'engine'])(
	'a tool that creates two images, on the path %s',
	(path) => {
		const call = async (text: string, parameters: INodeParameters = {}) => {
			const options = { credentials: stage.credentials(), path };
			const order = [ownType('imageGeneration'), { ...two, ...parameters }] as const;
			const { calls, run } = await stage.engine.runAsTool(...order, { prompt: text }, options);
			const said = run.error?.message ?? calls[0].response;
			return { said, error: run.error };
		};
		const made = () => stage.sandbox.books.generations;

		it('returns the one that exists, and an error for the one that got no slot', async () => {
			stage.sandbox.service.occupy('main', 9);
			const { said } = await call('A boat [seconds: 90]');
			expect(made()).toHaveLength(1);
			const url = expect.stringMatching(/^http/) as string;
			expect(JSON.parse(said)).toEqual([
				expect.objectContaining({ id: made()[0].id, timed_out: true, url }),
				expect.objectContaining({ id: null, error: expect.stringMatching(/./) as string }),
			]);
		});

		it('returns the completed one, and an error for the one that was rejected', async () => {
			const action = { kind: 'error', code: 'insufficient_credits' } as const;
			stage.sandbox.faults.order({ on: 'create', action });
			const { said } = await call('A boat [seconds: 20]');
			expect(JSON.parse(said)).toEqual(
				expect.arrayContaining([
					expect.objectContaining({ id: made()[0].id, status: 'completed' }),
					expect.objectContaining({ error_code: 'insufficient_credits' }),
				]),
			);
		});

		it('tells the agent not to call it again if the charge is unknown', async () => {
			stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
			const { said } = await call('A boat', { numberOfOutputs: 1 });
			expect(said).toContain('Do not call this tool again for it, but tell the user');
		});
	},
);
