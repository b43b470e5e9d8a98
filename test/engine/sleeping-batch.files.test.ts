import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { sleepToEnd } from './asleep';
import { files, filesNodes } from './files-node';
import { openKeyedStage } from './keyed';
import { byId } from './stage';

/** The files of a suspended batch in a workflow that keeps them within the JSON. */

const { stage } = openKeyedStage({ extraNodes: filesNodes });

it.each(['data', '_files.data', '_files["data"]'])(
	'waves find them by %s',
	async (binaryPropertyName) => {
		const list = [0, 1].map((index) => ({
			key: `k${index}`,
			prompt: `boat ${index} [seconds: 300]`,
			files: { data: { name: 'a.png', mimeType: 'image/png', bytes: 10 + index } },
		}));
		const parameters = {
			options: { idempotencyKey: '={{ $json.key }}', size: '256x256' },
			runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
			...{ model: byId('aurora-image-1'), prompt: '={{ $json.prompt }}' },
			referenceInputs: { input: [{ source: 'binary', binaryPropertyName }] },
		};
		const step = ownNode('Step', 'imageGeneration', parameters, { id: 'n' });
		const settings = { binaryMode: 'combined' as const };
		const workflow = { ...inARow(files, step), id: 'the-workflow', settings };
		const end = await sleepToEnd(stage, await stage.runWorkflow(workflow, { items: list }));
		expect([end.error?.message, end.status]).toEqual([undefined, 'success']);
		expect(stage.bodies.map(({ inputs }) => (inputs as unknown[]).length)).toEqual([1, 1]);
	},
);

it('waves keep each item’s reference URL, even if its expression changes and so would change the key', async () => {
	const list = [0, 1, 2].map((index) => ({
		key: `k${index}`,
		prompt: `boat ${index} [seconds: 300]`,
		photo: `https://example.com/${index}.png`,
	}));
	const url = '={{ $json.photo }}?{{ Math.random() }}';
	const parameters = {
		options: { idempotencyKey: '={{ $json.key }}', newOnChange: true, size: '256x256' },
		runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
		...{ model: byId('aurora-image-1'), prompt: '={{ $json.prompt }}' },
		referenceInputs: { input: [{ source: 'url', url }] },
	};
	const step = ownNode('Step', 'imageGeneration', parameters, { id: 'n' });
	const workflow = { ...inARow(step), id: 'the-workflow' };
	const end = await sleepToEnd(stage, await stage.runWorkflow(workflow, { items: list }));
	expect([end.error?.message, end.status]).toEqual([undefined, 'success']);
	const sent = stage.bodies.map(({ inputs }) => (inputs as Array<{ value: string }>)[0].value);
	expect(sent.map((one) => one.split('?')[0])).toEqual(list.map(({ photo }) => photo));
});

it('with Include Other Input Fields, each item keeps its files through the sleep', async () => {
	const list = [0, 1].map((index) => ({
		key: `k${index}`,
		prompt: `boat ${index} [seconds: 300]`,
		files: {
			data: { name: 'old.png', mimeType: 'image/png', bytes: 9 },
			brief: { name: 'brief.pdf', mimeType: 'application/pdf', bytes: 10 + index },
		},
	}));
	const parameters = {
		...{ model: byId('lumen-turbo'), prompt: '={{ $json.prompt }}' },
		options: { idempotencyKey: '={{ $json.key }}', includeOtherFields: true },
		runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
	};
	const step = ownNode('Step', 'imageGeneration', parameters, { id: 'n' });
	const workflow = { ...inARow(files, step), id: 'the-workflow' };
	const first = await stage.runWorkflow(workflow, { items: list });
	expect(first.status).toBe('waiting');
	const end = await sleepToEnd(stage, first);
	expect(end.output('Step')).toMatchObject(
		list.map((json, item) => ({
			json: { ...json, generation: { status: 'completed' } },
			binary: { data: { fileExtension: 'png' }, brief: { fileName: 'brief.pdf' } },
			pairedItem: { item },
		})),
	);
	for (const { binary } of end.output('Step')) {
		expect(binary?.data.fileName).toMatch(/^boat-/);
	}
});
