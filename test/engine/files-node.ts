import type {
	IBinaryKeyData,
	IDataObject,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
} from 'n8n-workflow';

import { bareNode } from '../../tools/engine/bare-node';
import type { NodeParts } from '../../tools/engine/in-a-row';
import type { Stage } from './stage';

/** A node that outputs a file for later nodes. */
export interface GivenFile {
	name: string;
	mimeType: string;
	/** The number of bytes; each byte is 7. */
	bytes: number;
}

const type = 'test.files';

/** Stores files as other nodes do. An item's JSON lists them by binary field. */
export const filesNodes: Record<string, INodeType> = {
	[type]: bareNode('files', {
		async execute() {
			const items = this.getInputData().map(async ({ json }, item) => {
				const binary: IBinaryKeyData = {};
				const files = json.files as unknown as Record<string, GivenFile>;
				for (const [field, { name, mimeType, bytes }] of Object.entries(files)) {
					const content = Buffer.alloc(bytes, 7);
					binary[field] = await this.helpers.prepareBinaryData(content, name, mimeType);
				}
				return { json, binary, pairedItem: { item } };
			});
			return [await Promise.all(items)];
		},
	}),
};

/** This node, for use before a step. */
export const files: NodeParts = { name: 'Files', type };

/** An address of n8n from which a service could fetch files. */
export const publicUrl = 'https://n8n.example.com/';
/** A file for the node Files. */
export const picture = (bytes = 10) => ({ name: 'a.png', mimeType: 'image/png', bytes });
export const fromFile: INodeParameters = { imageSource: 'binary' };
export const quick = { waitForCompletion: false };
/** An item with a file, for the node Files. */
export const given = (file: IDataObject, prompt = 'A boat') => ({ prompt, files: { data: file } });
/** An item that holds its file itself. */
export const inItem = (bytes: number): INodeExecutionData => ({
	json: { prompt: 'A boat' },
	binary: { data: { data: Buffer.alloc(bytes, 7).toString('base64'), mimeType: 'image/png' } },
});

/** Runs a video step on the files of the items, without waiting for the videos. */
export async function animate(
	stage: Stage,
	items: IDataObject[],
	more: INodeParameters = {},
	settings?: Partial<INode>,
) {
	const parameters = { ...quick, ...fromFile, ...more };
	return await stage.run('videoGeneration', parameters, { items, before: [files], settings });
}
