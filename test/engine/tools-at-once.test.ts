import type { INodeParameters } from 'n8n-workflow';

import { ownType } from '../support/workflow';
import { byId, openStage } from './stage';

const stage = openStage();

const prompt = "={{ $fromAI('prompt', 'what to make', 'string') }}";
const image = { model: byId('lumen-turbo'), prompt, options: { size: '64x64' } };

async function callAtOnce(parameters: INodeParameters, ...prompts: string[]) {
	const { calls, run } = await stage.engine.runAsTool(
		ownType('imageGeneration'),
		parameters,
		prompts.map((one) => ({ prompt: one })),
		{ credentials: stage.credentials(), path: 'atOnce' },
	);
	const said = calls.map(({ response }) => response);
	return { run, said, ids: said.map(idIn) };
}

function idIn(response: string): string | null {
	try {
		return (JSON.parse(response) as Array<{ id?: string }>)[0]?.id ?? null;
	} catch {
		return null;
	}
}

describe('calls of one agent that n8n runs at the same moment', () => {
	it.each([true, false])(
		'and that have the same request share one generation, waiting for it: %s',
		async (waitForCompletion) => {
			const parameters = { ...image, waitForCompletion };
			const { run, ids } = await callAtOnce(parameters, 'A boat', 'A boat', 'A boat');
			const [made] = stage.sandbox.books.generations;
			expect(run.error).toBeUndefined();
			expect(ids).toEqual([made.id, made.id, made.id]);
			expect(stage.sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
		},
	);

	it('and that have different requests generate one each', async () => {
		const { ids } = await callAtOnce(image, 'A boat', 'A ship', 'A raft');
		expect(new Set(ids)).toEqual(new Set(stage.sandbox.books.generations.map(({ id }) => id)));
		expect(stage.sandbox.books.totals.created).toBe(3);
	});

	it('do not send a request again whose response the first call lost', async () => {
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
		const { said } = await callAtOnce(image, 'A boat', 'A boat');
		expect(stage.sandbox.requests.on('create')).toHaveLength(1);
		const uncertain = expect.stringContaining('may have been charged');
		expect(said).toEqual([uncertain, uncertain]);
	});
});
