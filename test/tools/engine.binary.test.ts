import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createEngine } from '../../tools/engine';
import type { Engine } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import { node, startServer } from './engine.helpers';
import type { TestServer } from './engine.helpers';

let server: TestServer;

const downloader = node('download', {
	async execute() {
		const url = `${server.url}/bytes`;
		const body = (await this.helpers.httpRequest({ url, encoding: 'stream' })) as Readable;
		const data = await this.helpers.prepareBinaryData(body, 'a.bin', 'application/octet-stream');
		return [[{ json: {}, binary: { data } }]];
	},
});

const workflow = inARow({ name: 'Download', type: 'test.download' });
const extraNodes = { 'test.download': downloader };

async function download(engine: Engine) {
	const run = await engine.run(workflow);
	const field = run.output('Download')[0].binary?.data;
	if (!field) throw new Error(run.error?.message ?? 'no binary');
	return { run, field };
}

beforeAll(async () => {
	server = await startServer();
});

afterAll(async () => await server.close());

describe('binary data, in one engine after another', () => {
	it('is stored in files, which are removed on close', async () => {
		const engine = await createEngine({ extraNodes, binaryMode: 'filesystem' });
		const { run, field } = await download(engine);
		expect(field).toMatchObject({ fileName: 'a.bin', data: 'filesystem-v2', bytes: 100_000 });
		expect(await run.binary(field)).toEqual(Buffer.alloc(100_000, 7));
		let size = 0;
		for await (const chunk of await run.binaryStream(field)) size += (chunk as Buffer).length;
		expect(size).toBe(100_000);
		const path = run.binaryPath(field);
		expect(existsSync(path)).toBe(true);
		await engine.close();
		expect(existsSync(path)).toBe(false);
	});

	it('is kept inside the items in memory mode', async () => {
		const engine = await createEngine({ extraNodes, binaryMode: 'memory' });
		const { run, field } = await download(engine);
		expect(field.id).toBeUndefined();
		expect(await run.binary(field)).toEqual(Buffer.alloc(100_000, 7));
		expect(() => run.binaryPath(field)).toThrow('holds its bytes itself');
		await engine.close();
	});
});
