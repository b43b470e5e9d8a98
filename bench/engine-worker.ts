/** Runs one workflow in n8n's engine, in a process of its own, and prints what that cost this process. */
import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';

import { createEngine } from '../tools/engine';
import { bareNode } from '../tools/engine/bare-node';
import { inARow } from '../tools/engine/in-a-row';
import type { EngineReport, EngineTask } from './engine';

const sleep = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** A node that does nothing for some time. What it measures is caused by n8n and the machine. */
const idler = bareNode('idler', {
	async execute() {
		const items = this.getInputData();
		await sleep(Number(items[0].json.idleMs));
		return [items.map(({ json }, item) => ({ json, pairedItem: { item } }))];
	},
});

/** A node that only calls n8n's helpers for downloads: the upper bound for any node. */
const downloader = bareNode('downloader', {
	async execute() {
		const { httpRequest, prepareBinaryData } = this.helpers;
		const fetchOne = async ({ url, store }: IDataObject) => {
			const headers = { 'Accept-Encoding': 'identity' };
			const options = { url: String(url), headers, encoding: 'stream' } as const;
			const stream = (await httpRequest(options)) as Readable;
			if (store) return { json: {}, binary: { data: await prepareBinaryData(stream, 'file.mp4') } };
			let bytes = 0;
			stream.on('data', (part: Buffer) => (bytes += part.length));
			await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject));
			return { json: { bytes } };
		};
		return [await Promise.all(this.getInputData().map(async ({ json }) => await fetchOne(json)))];
	},
});

/** Measures memory and pauses of the event loop. That takes CPU time itself. */
function watch() {
	global.gc?.();
	const before = process.memoryUsage.rss();
	let most = before;
	let [longest, longestOwn] = [0, 0];
	let [since, used] = [performance.now(), process.cpuUsage()];
	const tick = () => {
		const pause = Math.max(0, performance.now() - since - 5);
		const { user, system } = process.cpuUsage(used);
		longest = Math.max(longest, pause);
		longestOwn = Math.max(longestOwn, Math.min(pause, (user + system) / 1000));
		[since, used] = [performance.now(), process.cpuUsage()];
		most = Math.max(most, process.memoryUsage.rss());
	};
	const timer = setInterval(tick, 5);
	return () => {
		clearInterval(timer);
		tick();
		return { growthBytes: most - before, longestPauseMs: longest, ownPauseMs: longestOwn };
	};
}

async function main(task: EngineTask): Promise<EngineReport> {
	const extraNodes = { 'bench.idler': idler, 'bench.downloader': downloader };
	const engine = await createEngine({ nodes: 'dist', binaryMode: 'filesystem', extraNodes });
	const workflow = inARow({ name: 'Step', ...task.step });
	const execute = async (items: IDataObject[]) => {
		const input = items.map((json) => ({ json }));
		const credentials = { mediaGenerationApi: task.credential };
		const run = await engine.run(workflow, { credentials, input });
		if (run.status !== 'success') throw run.error ?? new Error(run.status);
		return run;
	};
	try {
		// Loading code and filling pools is not part of the cost.
		await execute(task.warmUp);
		const watched = task.watched ? watch() : undefined;
		const [began, before] = [performance.now(), process.cpuUsage()];
		const run = await execute(task.items);
		const { user, system } = process.cpuUsage(before);
		const seconds = (performance.now() - began) / 1000;
		const output = run.output('Step');
		const sizes = output.map(({ binary }) =>
			binary ? statSync(run.binaryPath(binary.data)).size : 0,
		);
		return {
			...{ growthBytes: 0, longestPauseMs: 0, ownPauseMs: 0, ...watched?.() },
			...{ seconds, cpuSeconds: (user + system) / 1e6 },
			...{
				output: output.map(({ json }) => json),
				bytes: sizes.reduce((sum, size) => sum + size, 0),
			},
		};
	} finally {
		await engine.close();
	}
}

main(JSON.parse(process.argv[2]) as EngineTask).then(
	(report) => process.stdout.write(`${JSON.stringify(report)}\n`),
	(error: unknown) => {
		console.error(error);
		process.exitCode = 1;
	},
);
