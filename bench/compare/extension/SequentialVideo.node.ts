import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';

/** Seconds between two status checks. */
const interval = 5;

interface Generation {
	id: string;
	status: string;
	data: Array<{ url: string }>;
}

/**
 * Works like current community packages for video services; only for the comparison. For one item after the other, it
 * creates a video, checks the status every few seconds until it is ready, and downloads it into memory.
 */
export class SequentialVideo implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Sequential Video',
		name: 'sequentialVideo',
		group: ['transform'],
		version: 1,
		description: 'Makes one video after the other',
		defaults: { name: 'Sequential Video' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: 'mediaGenerationApi', required: true }],
		properties: [{ displayName: 'Body (JSON)', name: 'body', type: 'json', default: '{}' }],
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const { baseUrl } = await this.getCredentials<{ baseUrl: string }>('mediaGenerationApi');
		const request = async (method: 'GET' | 'POST', path: string, body?: IDataObject) =>
			(await this.helpers.httpRequestWithAuthentication.call(this, 'mediaGenerationApi', {
				...{ method, url: `${baseUrl}${path}`, body, json: true },
			})) as Generation;
		const done: INodeExecutionData[] = [];
		for (const item of this.getInputData().keys()) {
			const body = JSON.parse(this.getNodeParameter('body', item) as string) as IDataObject;
			const { id } = await request('POST', '/v1/videos/generations', body);
			let generation: Generation;
			do {
				await new Promise((resolve) => setTimeout(resolve, interval * 1000));
				generation = await request('GET', `/v1/generations/${id}`);
				if (generation.status === 'failed') throw new Error('The video generation failed.');
			} while (generation.status !== 'completed');
			const file = { url: generation.data[0].url, encoding: 'arraybuffer' } as const;
			const bytes = Buffer.from((await this.helpers.httpRequest(file)) as Buffer);
			const data = await this.helpers.prepareBinaryData(bytes, `${id}.mp4`, 'video/mp4');
			done.push({ json: { id }, binary: { data }, pairedItem: { item } });
		}
		return [done];
	}
}
