import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { asTool, modelSubtitle, sharedDescription } from '../shared/form/description';
import { modelOptions, modelSearch } from '../shared/model-search';
import { runCreatingNode } from '../shared/sleep/creating';
import { imageFields } from './fields';
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
		usableAsTool: asTool(
			'Create an image from a text prompt, optionally with reference images. Each call is charged. Returns the ID, the status and the URL of the image, which is valid for one hour.',
		),
		properties: imageFields,
	};

	methods = {
		listSearch: { searchImageModels: modelSearch('image') },
		loadOptions: { getFallbackModels: modelOptions('image') },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runCreatingNode(this, { fields: imageFields, plan: planImage });
	}
}
