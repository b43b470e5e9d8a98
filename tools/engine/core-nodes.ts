/** Stand-ins for the few core nodes that workflows need. n8n's package of core nodes has about 90 dependencies. */
import type { INodeType } from 'n8n-workflow';
import { bareNode } from './bare-node';

const manualTrigger = bareNode('manualTrigger', {
	description: { displayName: 'Manual Trigger', group: ['trigger'], inputs: [] },
	async trigger() {
		const manualTriggerFunction = async () => this.emit([this.helpers.returnJsonArray([{}])]);
		return { manualTriggerFunction };
	},
});

const executeWorkflowTrigger = bareNode('executeWorkflowTrigger', {
	description: {
		displayName: 'When Executed by Another Workflow',
		group: ['trigger'],
		version: [1, 1.1],
		inputs: [],
	},
	async execute() {
		return [this.getInputData()];
	},
});

const noOp = bareNode('noOp', {
	description: { displayName: 'No Operation, do nothing' },
	async execute() {
		return [this.getInputData()];
	},
});

const stickyNote = bareNode('stickyNote', {
	description: { displayName: 'Sticky Note', inputs: [], outputs: [] },
	async execute() {
		return [];
	},
});

/** Stand-ins by type name. */
export const coreNodes: Record<string, INodeType> = {
	'n8n-nodes-base.manualTrigger': manualTrigger,
	'n8n-nodes-base.executeWorkflowTrigger': executeWorkflowTrigger,
	'n8n-nodes-base.noOp': noOp,
	'n8n-nodes-base.stickyNote': stickyNote,
};
