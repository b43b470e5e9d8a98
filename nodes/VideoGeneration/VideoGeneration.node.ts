import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { modelSubtitle, sharedDescription } from '../shared/form/description';
import { formOf } from '../shared/form/form';
import { modelOptions, modelSearch } from '../shared/run/model-search';
import { creatingProfile } from '../shared/sleep/batch';
import { runGenerationNode } from '../shared/generation-node';
import { stepIn } from '../shared/step';
import { AS_TOOL, videoFields } from './fields';
import { planVideo } from './request';

/** The Video Generation node: creates videos (spec 4.2). */
export class VideoGeneration implements INodeType {
	description: INodeTypeDescription = {
		...sharedDescription,
		displayName: 'Video Generation',
		name: 'videoGeneration',
		icon: {
			light: 'file:../../icons/videoGeneration.svg',
			dark: 'file:../../icons/videoGeneration.dark.svg',
		},
		group: ['transform'],
		subtitle: modelSubtitle,
		description: 'Create short videos from a text prompt or an input image',
		defaults: { name: 'Video Generation' },
		usableAsTool: { replacements: { description: AS_TOOL } },
		properties: formOf(videoFields),
	};

	methods = {
		listSearch: { searchVideoModels: modelSearch('video') },
		loadOptions: { getFallbackModels: modelOptions('video') },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const profile = creatingProfile({ fields: videoFields, plan: planVideo });
		return await runGenerationNode(stepIn(this), profile);
	}
}
