/** What n8n's editor asks of nodes and credentials: searched lists, and "Test connection". */
import { CredentialTestContext, LoadOptionsContext } from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	INode,
	INodeCredentialTestResult,
	INodeListSearchResult,
} from 'n8n-workflow';
import type { CredentialsByType } from '../../../tools/engine/credentials';
import { GivenCredentials } from '../../../tools/engine/credentials';
import { additionalData, openWorkflow } from '../../../tools/engine/execution';
import type { Host } from '../../../tools/engine/host';

/** One search in a list that a node offers for a parameter. */
export interface ListSearch {
	/** The full type name of the node. */
	nodeType: string;
	/** The name of the method among the node's `listSearch` methods. */
	method: string;
	credentials: CredentialsByType;
	filter?: string;
}

/** Runs one search. Throws what the method throws, and when the node has no such method. */
export async function listSearch(host: Host, search: ListSearch): Promise<INodeListSearchResult> {
	const { nodeType, method, credentials, filter } = search;
	const type = host.types.getByNameAndVersion(nodeType, 1);
	const run = type.methods?.listSearch?.[method];
	if (!run) throw new Error(`${nodeType} has no listSearch method ${method}`);
	const node = temporaryNode(nodeType);
	const workflow = openWorkflow(host, { nodes: [node], connections: {} }, credentials);
	const extra = { ...additionalData(host, credentials), currentNodeParameters: {} };
	const opened = workflow.getNode(node.name) ?? node;
	const context = new LoadOptionsContext(workflow, opened, extra, 'parameters');
	return await run.call(context, filter);
}

/**
 * Tests a credential by the method of a node that n8n's "Test connection" finds for its type. Never throws for what the
 * service answers: the result's message is what the user would see.
 */
export async function testCredential(
	host: Host,
	type: string,
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const test = host.types
		.ownNodes()
		.flatMap(({ description, methods }) =>
			(description.credentials ?? []).flatMap(({ name, testedBy }) =>
				name === type && typeof testedBy === 'string' ? [methods?.credentialTest?.[testedBy]] : [],
			),
		)[0];
	if (!test) return { status: 'Error', message: 'No testing function found for this credential.' };
	const filled = new GivenCredentials(host.types, { [type]: data }).withDefaults(type, data);
	const context = new CredentialTestContext(additionalData(host, { [type]: filled }));
	return await test.call(context, { id: type, name: type, type, data: filled });
}

function temporaryNode(type: string): INode {
	return { id: 'temp', name: 'Temp-Node', type, typeVersion: 1, position: [0, 0], parameters: {} };
}
