import { createEngine } from '../tools/engine';
import { bareNode } from '../tools/engine/bare-node';
import { inARow } from '../tools/engine/in-a-row';
import type { BulkReport, BulkTask, StepFigures } from './bulk';
import { watchLoop, watchMemory } from './watch';
import { workAlone } from './worker';

/**
 * A node that does nothing for as long as our step takes, with the same items. What it measures is caused by n8n and
 * the machine.
 */
const idler = bareNode('idler', {
	async execute() {
		const items = this.getInputData();
		await new Promise((resolve) => setTimeout(resolve, Number(items[0].json.idleMs)));
		return [items.map(({ json }, item) => ({ json, pairedItem: { item } }))];
	},
});

workAlone(async ({ baseUrl, apiKey, items, workflow }: BulkTask): Promise<BulkReport> => {
	const extraNodes = { 'bench.idler': idler };
	const engine = await createEngine({ nodes: 'dist', binaryMode: 'filesystem', extraNodes });
	try {
		const execute = async (of: BulkTask['workflow'], count: number, idleMs = 0) => {
			const prompts = Array.from({ length: count }, (_, index) => `Wave ${index}`);
			const [memory, loop, started] = [watchMemory(), watchLoop(), performance.now()];
			const run = await engine.run(of, {
				credentials: { mediaGenerationApi: { baseUrl, apiKey } },
				input: prompts.map((prompt) => ({ json: { prompt, idleMs } })),
			});
			if (run.status !== 'success') throw run.error ?? new Error(run.status);
			const seconds = (performance.now() - started) / 1000;
			return { seconds, growthBytes: memory.stop(), ...loop.stop() } satisfies StepFigures;
		};
		// The first run loads code and fills pools, which is not part of the cost of a batch.
		await execute(workflow, 10);
		const ours = await execute(workflow, items);
		const idle = inARow({ name: 'Idle', type: 'bench.idler' });
		return { ours, idle: await execute(idle, items, ours.seconds * 1000) };
	} finally {
		await engine.close();
	}
});
