import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';

import { createEngine } from '../tools/engine';
import { bareNode } from '../tools/engine/bare-node';
import { inARow, type NodeParts } from '../tools/engine/in-a-row';
import type { DownloadReport, DownloadTask, MadeFile, Way } from './download-task';
import { profiled } from './profile';
import { watchMemory } from './watch';
import { workAlone } from './worker';

const BARE = 'bench.bare';

/** A node that only calls n8n's helpers, to measure the upper bound for any node. */
const bare = bareNode('bare', {
	description: {
		properties: [{ name: 'store', displayName: 'Store', type: 'boolean', default: true }],
	},
	async execute() {
		const { httpRequest, prepareBinaryData } = this.helpers;
		const store = this.getNodeParameter('store', 0) as boolean;
		const fetchOne = async (url: string) => {
			const headers = { 'Accept-Encoding': 'identity' };
			const stream = (await httpRequest({ url, headers, encoding: 'stream' })) as Readable;
			if (store) return { json: {}, binary: { data: await prepareBinaryData(stream, 'file.mp4') } };
			let bytes = 0;
			stream.on('data', (part: Buffer) => (bytes += part.length));
			await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject));
			return { json: { bytes } };
		};
		return [await Promise.all(this.getInputData().map(({ json }) => fetchOne(String(json.url))))];
	},
});

const steps: Record<Way, NodeParts> = {
	node: { name: 'Step', type: 'n8n-nodes-media-generation.waitForCompletion' },
	helper: { name: 'Step', type: BARE },
	reading: { name: 'Step', type: BARE, parameters: { store: false } },
};

/**
 * Fetches finished generations into n8n's storage, and reports how memory grew. Runs in a separate process, so that its
 * memory is only that of n8n's engine and the node.
 */
workAlone(async (task: DownloadTask): Promise<DownloadReport> => {
	const extraNodes = { [BARE]: bare };
	const engine = await createEngine({ nodes: 'dist', binaryMode: 'filesystem', extraNodes });
	const workflow = inARow(steps[task.way]);
	const fetchAll = async (files: MadeFile[]) => {
		const run = await engine.run(workflow, {
			credentials: { mediaGenerationApi: { baseUrl: task.baseUrl, apiKey: task.apiKey } },
			input: files.map(({ id, url }) => ({ json: { id, url } })),
		});
		if (run.status !== 'success') throw run.error ?? new Error(run.status);
		return run;
	};
	const measured = async () => {
		const memory = watchMemory();
		const started = performance.now();
		const run = await fetchAll(task.files);
		const seconds = (performance.now() - started) / 1000;
		return { run, seconds, growthBytes: memory.stop() };
	};
	try {
		// The first run loads code and fills pools, which is not part of the cost of a download.
		await fetchAll([task.warmUp]);
		const [{ run, seconds, growthBytes }, shares] = task.profiled
			? await profiled(measured)
			: [await measured(), null];
		const bytes = run
			.output('Step')
			.map(({ json, binary }) =>
				binary ? statSync(run.binaryPath(binary.data)).size : Number(json.bytes),
			)
			.reduce((sum, size) => sum + size, 0);
		return { seconds, growthBytes, bytes, shares };
	} finally {
		await engine.close();
	}
});
