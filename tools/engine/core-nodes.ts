/** Stand-ins for the few core nodes that workflows need: the package of n8n's own has some 90 dependencies. */
import { sleep } from 'n8n-workflow';
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

const secondsOf: Record<string, number> = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 };

/** Like n8n's Wait, short waits are sat out in the step and long ones put the execution to sleep. */
const wait = bareNode('wait', {
	description: {
		displayName: 'Wait',
		version: [1, 1.1],
		properties: [
			{ displayName: 'Resume', name: 'resume', type: 'string', default: 'timeInterval' },
			{ displayName: 'Amount', name: 'amount', type: 'number', default: 5 },
			{ displayName: 'Unit', name: 'unit', type: 'string', default: 'seconds' },
		],
	},
	async execute() {
		const amount = Number(this.getNodeParameter('amount', 0));
		const ms = amount * secondsOf[String(this.getNodeParameter('unit', 0))] * 1000;
		if (ms < 65_000) await sleep(ms, this.getExecutionCancelSignal());
		else await this.putExecutionToWait(new Date(Date.now() + ms));
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
	'n8n-nodes-base.wait': wait,
	'n8n-nodes-base.stickyNote': stickyNote,
};
