import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { sharedDescription } from '../shared/form/description';
import { formOf } from '../shared/form/form';
import { runGenerationNode } from '../shared/generation-node';
import { stepIn } from '../shared/step';
import { AS_TOOL, waitForm } from './fields';
import { modeOf } from './request';
import { waitingProfile } from './suspend';

/** The Wait for Completion node: returns generations that already exist (spec 4.3). */
export class WaitForCompletion implements INodeType {
	description: INodeTypeDescription = {
		...sharedDescription,
		displayName: 'Wait for Completion',
		name: 'waitForCompletion',
		icon: {
			light: 'file:../../icons/waitForCompletion.svg',
			dark: 'file:../../icons/waitForCompletion.dark.svg',
		},
		group: ['transform'],
		subtitle:
			'={{ { poll: "Poll Until Ready", suspend: "Suspend Until Ready", check: "Check Once" }[$rawParameter["mode"]] || "Mode by Expression" }}',
		description: 'Get the outputs of generations that were already created',
		defaults: { name: 'Wait for Completion' },
		usableAsTool: { replacements: { description: AS_TOOL } },
		properties: formOf(waitForm),
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const step = stepIn(this);
		return await runGenerationNode(step, waitingProfile, modeOf(step) === 'suspend');
	}
}
