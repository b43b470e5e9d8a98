import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inARow } from '../../tools/engine/in-a-row';
import { createTestEngine } from '../engine/support/engine';

const type = 'n8n-nodes-demo.greet';
const workflow = inARow({ name: 'Greet', type });

const source = (from: string) => `
	exports.Greet = class {
		description = {
			name: 'greet', displayName: 'Greet', version: 1, group: [], description: '',
			defaults: { name: 'Greet' }, inputs: ['main'], outputs: ['main'], properties: [],
		};
		async execute() { return [[{ json: { from: '${from}' } }]]; }
	};`;

const manifest = {
	name: 'n8n-nodes-demo',
	version: '1.0.0',
	n8n: { nodes: ['dist/nodes/Greet/Greet.node.js', 'dist/nodes/Later/Later.node.js'] },
};

let packageDir: string;

async function write(file: string, text: string) {
	const path = join(packageDir, file);
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
}

beforeAll(async () => {
	packageDir = await mkdtemp(join(tmpdir(), 'n8n-package-'));
	await write('package.json', JSON.stringify(manifest));
	await write('dist/nodes/Greet/Greet.node.js', source('dist'));
	await write('nodes/Greet/Greet.node.ts', source('source'));
	await write('nodes/Greet/Greet.node.json', '{"categories":["Demo"],"resources":{}}');
});

afterAll(async () => await rm(packageDir, { recursive: true }));

describe("the package's nodes", () => {
	it.each(['dist', 'source'] as const)('are loaded from %s, by the manifest', async (nodes) => {
		const engine = await createTestEngine({ nodes, packageDir });
		const run = await engine.run(workflow);
		expect(run.output('Greet')[0].json).toEqual({ from: nodes });
		expect(() => engine.nodeType('n8n-nodes-demo.later')).toThrow('Cannot find module');
		await expect(engine.run(inARow({ name: 'No', type: 'no.such' }))).rejects.toThrow(
			'Unrecognized node type: no.such',
		);
		await engine.close();
	});

	it('include their codex, as in n8n', async () => {
		const engine = await createTestEngine({ packageDir });
		expect(engine.nodeType(type).description.codex).toMatchObject({ categories: ['Demo'] });
		await engine.close();
	});
});
