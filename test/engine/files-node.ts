import type { IBinaryKeyData, INodeType } from 'n8n-workflow';

import { bareNode } from '../../tools/engine/bare-node';
import type { NodeParts } from '../../tools/engine/in-a-row';

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
