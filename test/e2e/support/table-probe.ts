import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowFile } from '../../../tools/n8n/rest';
import { packageName, trigger } from './workflows';

const source = `
const { randomUUID } = require('node:crypto');
const { join } = require('node:path');
const modules = join(process.env.N8N_USER_FOLDER, '.n8n', 'nodes', 'node_modules', '${packageName}', 'dist');
const { dataTable } = require(join(modules, 'nodes', 'shared', 'record', 'data-table.js'));
const { stepIn } = require(join(modules, 'nodes', 'shared', 'step.js'));
const generation = () => {
	const [id, writer] = [randomUUID(), randomUUID()];
	const prompt = 'A picture that was made some time ago, number ' + id;
	return {
		key: prompt, workflow_id: 'another-workflow', node_id: writer, execution_id: '1', generation_id: id,
		status: 'completed', type: 'image', model: 'aurora-image-1', prompt, request: id, writer: writer + '/1+',
	};
};
class TableProbe {
	constructor() {
		this.description = {
			displayName: 'Table Probe', name: 'tableProbe', group: ['transform'], version: 1, description: 'Fills the journal',
			defaults: { name: 'Table Probe' }, inputs: ['main'], outputs: ['main'],
			properties: [{ displayName: 'Rows', name: 'rows', type: 'number', default: 0 }],
		};
	}
	async execute() {
		const table = await dataTable(stepIn(this));
		const call = async (part) => await table({ changes: [], inserts: [], made: [], keys: [], ...part });
		for (let rows = this.getNodeParameter('rows', 0); rows > 0; rows -= 1000) {
			await call({ inserts: Array.from({ length: 1000 }, generation) });
		}
		return [[]];
	}
}
module.exports = { TableProbe };
`;

/** Writes a node that fills the journal into a folder for `N8N_CUSTOM_EXTENSIONS`. */
export async function buildProbe(folder: string): Promise<void> {
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, 'TableProbe.node.js'), source);
}

/**
 * Returns a workflow that contains only the probe, named Probe.
 *
 * @param rows number of generation rows to add, a multiple of 1,000
 */
export function probeWorkflow(rows: number): WorkflowFile {
	const node = (name: string, type: string, x: number, parameters = {}) => ({
		id: `probe-${x}`,
		name,
		type,
		typeVersion: 1,
		position: [x, 0],
		parameters,
	});
	return {
		name: 'Probe',
		nodes: [
			node(trigger, 'n8n-nodes-base.manualTrigger', 0),
			node('Probe', 'CUSTOM.tableProbe', 220, { rows }),
		],
		connections: { [trigger]: { main: [[{ node: 'Probe', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	};
}
