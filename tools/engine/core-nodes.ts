/** Stand-ins for the few core nodes that workflows need. n8n's package of core nodes has about 90 dependencies. */
import { NodeConnectionTypes, sleep } from 'n8n-workflow';
import type { IDataObject, INodeType } from 'n8n-workflow';
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

/** Like n8n's Wait: short waits keep the step running, and long ones suspend the execution. */
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

/** Version 1 of n8n's If, with conditions of the type boolean only. */
const ifNode = bareNode('if', {
	description: {
		displayName: 'If',
		outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.Main],
		properties: [
			{
				displayName: 'Conditions',
				name: 'conditions',
				type: 'fixedCollection',
				typeOptions: { multipleValues: true },
				default: {},
				options: [
					{
						displayName: 'Boolean',
						name: 'boolean',
						values: [
							{ displayName: 'Value 1', name: 'value1', type: 'boolean', default: false },
							{ displayName: 'Value 2', name: 'value2', type: 'boolean', default: false },
						],
					},
				],
			},
		],
	},
	async execute() {
		const holds = (_: unknown, index: number) => {
			const all = this.getNodeParameter('conditions.boolean', index) as IDataObject[];
			return all.every(({ value1, value2 }) => value1 === value2);
		};
		const items = this.getInputData();
		const met = items.filter(holds);
		return [met, items.filter((item) => !met.includes(item))];
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
	'n8n-nodes-base.if': ifNode,
	'n8n-nodes-base.wait': wait,
	'n8n-nodes-base.stickyNote': stickyNote,
};
