import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { INode, INodeParameters, INodeType } from 'n8n-workflow';

import { TABLE_COLUMNS } from '../../client/jobs/row';
import { TABLE_NAME } from '../../client/orders/table';
import { readWorkflow } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import { credentialTypes } from '../../tools/start/examples';
import { ownNode } from '../support/workflow';
import { nodesReferredTo, parameterProblems } from '../support/workflow-check';
import { binaryOf, openStage } from './stage';

const folder = join(__dirname, '../../examples');
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

const ours = 'n8n-nodes-media-generation.';
const credential = 'mediaGenerationApi';

/**
 * Nodes of n8n itself that examples use, and the versions they may have. Their parameters are not
 * checked here: a new one is added after the example was opened in n8n.
 */
const coreNodes: Record<string, number[]> = {
	'n8n-nodes-base.aggregate': [1],
	'n8n-nodes-base.dataTable': [1.1],
	'n8n-nodes-base.filter': [2.2],
	'n8n-nodes-base.form': [2.3],
	'n8n-nodes-base.formTrigger': [2.3],
	'n8n-nodes-base.html': [1.2],
	'n8n-nodes-base.if': [2.2],
	'n8n-nodes-base.limit': [1],
	'n8n-nodes-base.manualTrigger': [1],
	'n8n-nodes-base.respondToWebhook': [1.1],
	'n8n-nodes-base.s3': [1],
	'n8n-nodes-base.scheduleTrigger': [1.2],
	'n8n-nodes-base.set': [3.4],
	'n8n-nodes-base.splitOut': [1],
	'n8n-nodes-base.stopAndError': [1],
	'n8n-nodes-base.stickyNote': [1],
	'n8n-nodes-base.telegram': [1.2],
	'n8n-nodes-base.webhook': [2],
	'@n8n/n8n-nodes-langchain.agent': [3],
	'@n8n/n8n-nodes-langchain.chatTrigger': [1.1],
	'@n8n/n8n-nodes-langchain.lmChatOpenAi': [1.3],
	'@n8n/n8n-nodes-langchain.mcpClient': [1.1],
	'@n8n/n8n-nodes-langchain.mcpClientTool': [1.4],
	'@n8n/n8n-nodes-langchain.mcpTrigger': [2],
	'@n8n/n8n-nodes-langchain.memoryBufferWindow': [1.3],
};

const stage = openStage();

function typeOf({ type, typeVersion }: INode): INodeType {
	return stage.engine.nodeType(type, typeVersion);
}

it('finds the main example', () => {
	expect(files).toContain('main.json');
});

describe.each(files)('examples/%s', (file) => {
	const workflow = readWorkflow(join(folder, file));
	const { nodes, connections } = workflow;
	const own = nodes.filter(({ type }) => type.startsWith(ours));
	const isNote = ({ type }: INode) => type.endsWith('.stickyNote');

	it('is a workflow that n8n imports without changes', () => {
		expect(workflow.name).toMatch(/\S/);
		expect(workflow.meta).toBeDefined();
		expect(workflow.pinData).toBeUndefined();
		expect(workflow.active).toBe(false);
	});

	it('uses existing node types and versions', () => {
		expect(own.length).toBeGreaterThan(0);
		for (const node of own) {
			expect([typeOf(node).description.version].flat()).toContain(node.typeVersion);
		}
		for (const { type, typeVersion } of nodes.filter((node) => !own.includes(node))) {
			expect(coreNodes).toHaveProperty([type]);
			expect(coreNodes[type]).toContain(typeVersion);
		}
	});

	it('sets existing parameters of the nodes to valid values', () => {
		expect(own.flatMap((node) => parameterProblems(node, typeOf(node)))).toEqual([]);
	});

	it('does not let an agent choose the model, which decides the price', () => {
		const models = own.map(({ parameters }) => JSON.stringify(parameters.model ?? ''));
		expect(models.filter((model) => model.includes('$fromAI'))).toEqual([]);
	});

	it('names its models, and does not buy whatever the catalog lists first', () => {
		const isList = ({ type, parameters }: INode) =>
			type === `${ours}generationModels` && parameters.operation !== 'get';
		const lists = nodes.filter(isList).map(({ name }) => name);
		const sourcesOf = ({ name, parameters: { model } }: INode): string[] => [
			...nodesReferredTo({ model }),
			...(JSON.stringify(model ?? '').includes('$json') ? beforeNode(name) : []),
		];
		const beforeNode = (name: string) =>
			Object.keys(connections).filter((from) => JSON.stringify(connections[from]).includes(name));
		expect(own.flatMap(sourcesOf).filter((name) => lists.includes(name))).toEqual([]);
	});

	it('says where to choose the models, which are those of the sandbox', () => {
		const creates = own.some(({ parameters }) => parameters.prompt !== undefined);
		const notes = nodes.filter(isNote).map(({ parameters }) => String(parameters.content));
		if (creates) expect(notes.join('\n')).toMatch(/(choose|enter)[^.]*\bmodels?\b/i);
	});

	it('refers to data tables by ID, because a name also finds tables with a longer one', () => {
		const tables = nodes.map(({ parameters: { dataTableId } }) => dataTableId as INodeParameters);
		for (const table of tables.filter((given) => given !== undefined)) {
			expect(table.mode).toBe('id');
			expect(table.value).toBe("={{ $('Create Table Once').first().json.id }}");
		}
	});

	it('gives each node its own name, ID and position', () => {
		for (const key of ['name', 'id'] as const) {
			expect(new Set(nodes.map((node) => node[key])).size).toBe(nodes.length);
		}
		for (const { id } of nodes) expect(id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
		const places = nodes.map(({ position }) => position.join());
		expect(new Set(places).size).toBe(nodes.length);
	});

	it('connects existing nodes, and leaves none unconnected', () => {
		const named = new Map(nodes.map((node) => [node.name, node]));
		const targets = Object.entries(connections).flatMap(([from, { main = [], ...other }]) => {
			expect(named.has(from)).toBe(true);
			return [...main, ...Object.values(other).flat()].flatMap((ends) => ends ?? []);
		});
		for (const { node } of targets) expect(named.has(node)).toBe(true);
		const connected = new Set([...Object.keys(connections), ...targets.map(({ node }) => node)]);
		const alone = nodes.filter((node) => !isNote(node) && !connected.has(node.name));
		expect(alone.map(({ name }) => name)).toEqual([]);
	});

	it('refers to existing nodes in its expressions', () => {
		const names = nodes.map(({ name }) => name);
		const named = nodes.flatMap(({ parameters }) => nodesReferredTo(parameters));
		expect(named.filter((name) => !names.includes(name))).toEqual([]);
	});

	it('leaves the choice of the credential to the user, and holds no secret', () => {
		for (const { credentials } of own) {
			expect(credentials?.[credential]).toEqual({ id: null, name: 'Media Generation account' });
		}
		for (const { credentials = {} } of nodes) {
			expect(Object.values(credentials).map(({ id }) => id)).not.toContainEqual(expect.anything());
		}
		expect(JSON.stringify(workflow)).not.toMatch(
			/svc_live_|Bearer (?!Auth)|https?:\/\/(127|localhost)/,
		);
	});

	it('explains itself in a note, which says whether another account is needed', () => {
		const notes = nodes.filter(isNote).map(({ parameters }) => String(parameters.content));
		expect(notes.join('\n')).toMatch(/credential/i);
		const ofTheService = ['mediaGenerationApi', 'httpBearerAuth', 'mcpOAuth2Api'];
		const types = [...credentialTypes(workflow)];
		const needsAnother = types.some((type) => !ofTheService.includes(type));
		expect(notes.join('\n')).toContain(
			needsAnother ? 'You also need an account at' : 'No other account is needed.',
		);
	});
});

it('examples/batch-status-page.json creates the table as the nodes do, if it is opened first', () => {
	const { nodes } = readWorkflow(join(folder, 'batch-status-page.json'));
	const { parameters } = nodes.find(({ name }) => name === 'Create Table Once') as INode;
	const column = TABLE_COLUMNS.map((name) => ({ name, type: 'string' }));
	expect(parameters).toMatchObject({ tableName: TABLE_NAME, columns: { column } });
});

describe.each(['scheduled-batch-from-table.json', 'scheduled-batch-to-s3.json'])(
	'examples/%s',
	(file) => {
		const { nodes } = readWorkflow(join(folder, file));
		const parametersOf = (node: string) => nodes.find(({ name }) => name === node)?.parameters;

		it('creates the rows with a prompt that neither are completed nor failed', () => {
			expect(parametersOf('Get Open Rows')).toMatchObject({
				matchType: 'allConditions',
				filters: {
					conditions: [
						{ keyName: 'status', condition: 'neq', keyValue: 'completed' },
						{ keyName: 'status', condition: 'neq', keyValue: 'failed' },
						{ keyName: 'prompt', condition: 'isNotEmpty' },
					],
				},
			});
		});

		it('creates no more than a limit in each run', () => {
			expect(parametersOf('Create Pictures')).toMatchObject({
				runOptions: { maxNewGenerations: 20 },
			});
		});
	},
);

it('examples/mcp-asset-library.json stops if the connector returned no ID', () => {
	const { connections } = readWorkflow(join(folder, 'mcp-asset-library.json'));
	const after = (node: string) =>
		connections[node].main.map((ends) => ends?.map((end) => end.node));
	expect(after('Create')).toEqual([['Created?']]);
	expect(after('Created?')).toEqual([['Check'], ['Not Created']]);
});

it('examples/approve-before-posting.json says which condition Send and Wait for Response needs', () => {
	const { nodes } = readWorkflow(join(folder, 'approve-before-posting.json'));
	const [{ parameters }] = nodes.filter(({ type }) => type.endsWith('.stickyNote'));
	expect(parameters.content).toContain('`{{ $json.data.approved }}`');
});

it('examples/batch-status-page.json does not keep an execution for each reload', () => {
	const { settings } = readWorkflow(join(folder, 'batch-status-page.json'));
	expect(settings).toMatchObject({ saveDataSuccessExecution: 'none' });
});

it('examples/submit-now-collect-later.json collects the other clips if one is rejected', async () => {
	const { nodes } = readWorkflow(join(folder, 'submit-now-collect-later.json'));
	const [start, collect] = ['Start Videos', 'Collect Videos'].map(
		(name) => nodes.find((node) => node.name === name) as INode,
	);
	const poll = { ...collect, parameters: { ...collect.parameters, mode: 'poll' } };
	const split = { name: 'Split Clips', type: 'n8n-nodes-base.noOp' };
	const clips = ['one', 'two', 'three'].map((name) => ({ name, prompt: `[seconds: 0] ${name}` }));
	const action = { kind: 'error', code: 'invalid_parameter' } as const;
	const match = { promptIncludes: 'two' };
	stage.sandbox.faults.order({ on: 'create', match, action, times: 'always' });
	const run = await stage.runWorkflow(inARow(split, start, poll), { items: clips });
	expect([run.status, run.error]).toEqual(['success', undefined]);
	expect(run.output('Start Videos')[1].json.error).toContain('Invalid parameter');
	const collected = run.output('Collect Videos');
	expect(collected.map(({ binary }) => binary?.data.fileName)).toEqual([
		'one.mp4',
		undefined,
		'three.mp4',
	]);
	expect(collected[1].json.error).toContain('Invalid parameter');
	expect(stage.sandbox.books.totals.created).toBe(2);
});

describe('the check of parameters', () => {
	it.each([
		['a field that does not exist', { promt: 'x' }, 'Step.promt does not exist'],
		['an option that does not exist', { options: { sed: 1 } }, 'Step.options.sed does not exist'],
		['a value of another type', { options: { seed: '1' } }, 'Step.options.seed is not a number'],
		[
			'a choice that there is not',
			{ runOptions: { onTimeout: 'wait' } },
			'Step.runOptions.onTimeout has no option "wait"',
		],
		[
			'a choice deep in a list',
			{ referenceInputs: { input: [{ source: 'file' }] } },
			'Step.referenceInputs.input[0].source has no option "file"',
		],
		['a model without a mode', { model: { __rl: true, value: 'm' } }, 'Step.model has no mode'],
		[
			'a field that is hidden',
			{ waitForCompletion: false, downloadOutput: false },
			'Step.downloadOutput does not show with these settings',
		],
	])('finds %s', (_what, parameters, problem) => {
		const node = inARow(ownNode('Step', 'imageGeneration', parameters)).nodes[1];
		expect(parameterProblems(node, typeOf(node))).toEqual([expect.stringContaining(problem)]);
	});
});

describe('examples/main.json, run', () => {
	const workflow = readWorkflow(join(folder, 'main.json'));

	it('generates an image, and a video that starts from it, and charges each once', async () => {
		const run = await stage.runWorkflow(workflow);
		expect([run.status, run.error]).toEqual(['success', undefined]);

		const [picture] = run.output('Create Picture');
		const [video] = run.output('Collect Video');
		const png = await run.binary(binaryOf(picture));
		const mp4 = await run.binary(binaryOf(video));
		expect(binaryOf(picture).fileName).toMatch(/\.png$/);
		expect(binaryOf(video).fileName).toMatch(/\.mp4$/);
		expect(png.subarray(1, 4).toString('latin1')).toBe('PNG');
		expect(mp4.subarray(4, 8).toString('latin1')).toBe('ftyp');

		const [first, second, ...others] = stage.sandbox.books.generations;
		expect(others).toEqual([]);
		expect([first.type, second.type]).toEqual(['image', 'video']);
		expect(second.request.image_url).toBe(picture.json.url);
		expect([first.charged - first.refunded, second.charged - second.refunded]).toEqual([8, 40]);
	});

	it('spends nothing if fewer credits are left than its minimum', async () => {
		stage.sandbox.service.accounts.setCredits('main', 99);
		const run = await stage.runWorkflow(workflow);
		expect(run.status).toBe('error');
		expect(run.error?.message).toContain('99 credits left');
		expect(stage.sandbox.books.generations).toEqual([]);
	});
});
