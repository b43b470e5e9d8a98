import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { INode, INodeParameters, INodeType } from 'n8n-workflow';

import { readWorkflow } from '../../tools/engine';
import { credentialTypes } from '../../tools/start/examples';
import { parameterProblems } from '../support/workflow-check';
import { openStage } from './stage';

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

	it('has a title that begins with the words of its file name', () => {
		const words = String(workflow.name).toLowerCase().replace(/\W+/g, '-');
		expect(words).toMatch(new RegExp(`^${file.replace('.json', '')}\\b`));
	});

	it('is a workflow that n8n imports without changes', () => {
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

	it('refers to data tables by ID, because a name also finds tables with a longer one', () => {
		const tables = nodes.map(({ parameters: { dataTableId } }) => dataTableId as INodeParameters);
		for (const table of tables.filter((given) => given !== undefined)) {
			expect(table.mode).toBe('id');
			expect(table.value).toBe("={{ $('Create Table Once').first().json.id }}");
		}
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
	},
);

describe.each([
	...['image-to-video', 'nightly-batch-asleep', 'product-photo-to-video', 'three-models-gallery'],
	...['scheduled-batch-from-table', 'scheduled-batch-to-s3', 'submit-now-collect-later'],
])('examples/%s.json', (name) => {
	it('returns the other items if one is refused, and says where that is set', () => {
		const { nodes } = readWorkflow(join(folder, `${name}.json`));
		const creating = nodes.filter(({ type }) => /\.(image|video)Generation$/.test(type));
		expect(creating.map(({ onError }) => onError)).not.toContain(undefined);
		const [{ parameters }] = nodes.filter(({ type }) => type.endsWith('.stickyNote'));
		expect(parameters.content).toMatch(/tab \*Settings\*/);
		expect(parameters.content).toContain('*On Error*');
	});
});
