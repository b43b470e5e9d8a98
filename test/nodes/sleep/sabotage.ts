import type { IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import type { ServiceRequest } from '../../../client/ports';
import type { ExecutionRecord } from '../../support/simulated-n8n/records';
import type { SleepWorld } from './world';

/**
 * Breaks the simulated n8n or the service, so that the nodes break a promise and the proof has to notice. The nodes
 * themselves are unchanged.
 */
export type Sabotage = (world: SleepWorld) => void;

type Run = () => Promise<INodeExecutionData[][]>;

/** Sabotages how nodes run. */
export function running(
	handle: (
		run: Run,
		record: ExecutionRecord,
		context: IExecuteFunctions,
		node: INode,
	) => Promise<INodeExecutionData[][]>,
): Sabotage {
	return ({ n8n }) => {
		const execute = n8n.execute.bind(n8n);
		n8n.execute = async (context, node) => {
			const record = n8n.records.get(context.getExecutionId()) as ExecutionRecord;
			return await handle(async () => await execute(context, node), record, context, node);
		};
	};
}

/** Sabotages the output of n8n's Data Table node. */
export function table(
	change: (
		operation: string,
		output: INodeExecutionData[],
		input: INodeExecutionData[],
	) => INodeExecutionData[],
): Sabotage {
	return running(async (run, _, context, node) => {
		const [output = []] = await run();
		if (!node.type.endsWith('dataTable')) return [output];
		const operation = String(context.getNodeParameter('operation', 0));
		return [change(operation, output, context.getInputData())];
	});
}

/** Sabotages requests: sends others as well. */
export function adding(more: (request: ServiceRequest) => ServiceRequest | null): Sabotage {
	return ({ service }) => {
		const { send } = service;
		Object.assign(service, {
			send: async (request: ServiceRequest) => {
				const other = more(request);
				if (other) await send(other).catch(() => undefined);
				return await send(request);
			},
		});
	};
}

/** Sabotages the parameters of all nodes. */
export function setting(change: (node: INode) => INode): Sabotage {
	return ({ n8n }) => {
		const prepared = n8n.prepared.bind(n8n);
		n8n.prepared = (node) => change(prepared(node));
	};
}
