import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

import { sharedDescription } from '../shared/description';
import { modelSearch } from '../shared/model-search';
import { runStep } from '../shared/step';
import { imageFields } from './fields';
import { planImage } from './request';

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
		subtitle: '={{$parameter["model"]?.value || "choose a model"}}',
		description:
			'Create an image from a text prompt, optionally with reference inputs. Each call is charged. Returns the ID, the status and the URL, and the picture itself as a file.',
		defaults: { name: 'Image Generation' },
		usableAsTool: true,
		properties: imageFields,
	};

	methods = { listSearch: { searchImageModels: modelSearch('image') } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runStep(this, (itemIndex) => planImage(this, itemIndex));
	}
}
