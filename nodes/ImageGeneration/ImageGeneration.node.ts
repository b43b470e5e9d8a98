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
import { AS_TOOL, imageFields } from './fields';
import { planImage } from './request';

/** The Image Generation node: creates images (spec 4.1). */
export class ImageGeneration implements INodeType {
	description: INodeTypeDescription = {
		...sharedDescription,
		displayName: 'Image Generation',
		name: 'imageGeneration',
		icon: {
			light: 'file:../../icons/imageGeneration.svg',
			dark: 'file:../../icons/imageGeneration.dark.svg',
		},
		group: ['transform'],
		subtitle: modelSubtitle,
		description: 'Create images from a text prompt and reference files',
		defaults: { name: 'Image Generation' },
		usableAsTool: { replacements: { description: AS_TOOL } },
		properties: formOf(imageFields),
	};

	methods = {
		listSearch: { searchImageModels: modelSearch('image') },
		loadOptions: { getFallbackModels: modelOptions('image') },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const profile = creatingProfile({ fields: imageFields, plan: planImage });
		return await runGenerationNode(stepIn(this), profile);
	}
}
