import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { modelSearch } from '../shared/model-search';
import { runStep } from '../shared/step';
import { CREDENTIAL } from '../shared/transport';
import { imageFields } from './fields';
import { planImage } from './request';

export class ImageGeneration implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Image Generation',
		name: 'imageGeneration',
		icon: {
			light: 'file:../../icons/imageGeneration.svg',
			dark: 'file:../../icons/imageGeneration.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: '={{$parameter["model"]?.value || "choose a model"}}',
		description:
			'Create an image from a text prompt, optionally with reference inputs. Each call is charged. Returns the ID, the status and the URL, and the picture itself as a file.',
		defaults: { name: 'Image Generation' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL, required: true }],
		properties: imageFields,
	};

	methods = { listSearch: { searchImageModels: modelSearch('image') } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runStep(this, (itemIndex) => planImage(this, itemIndex));
	}
}
