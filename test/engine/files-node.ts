import type { IBinaryKeyData, INodeType } from 'n8n-workflow';

import { bareNode } from '../../tools/engine/bare-node';
import type { NodeParts } from '../../tools/engine/in-a-row';

/** A file that an earlier node of the workflow hands on. */
export interface GivenFile {
	name: string;
	mimeType: string;
	/** How many bytes it has; all are 7. */
	bytes: number;
}

const type = 'test.files';

/** Puts files into n8n's storage as other nodes do: those that an item's JSON names, by binary field. */
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

/** That node, to be put before a step. */
export const files: NodeParts = { name: 'Files', type };
