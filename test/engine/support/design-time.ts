/** What n8n's editor asks of nodes and credentials: searched lists, and "Test connection". */
import { ExecuteContext, LoadOptionsContext, RoutingNode } from 'n8n-core';
import { Workflow, createRunExecutionData } from 'n8n-workflow';
import type {
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialsDecrypted,
	INode,
	INodeCredentialTestResult,
	INodeListSearchResult,
	INodeType,
	INodeTypes,
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
 * Tests a credential by the request its type declares, as n8n's "Test connection" does. Never
 * throws for what the service answers: the result's message is what the user would see.
 */
export async function testCredential(
	host: Host,
	type: string,
	data: ICredentialDataDecryptedObject,
): Promise<INodeCredentialTestResult> {
	const { test } = host.types.credential(type);
	if (!test) return failed('No testing function found for this credential.');
	const filled = new GivenCredentials(host.types, { [type]: data }).withDefaults(type, data);
	try {
		const [[item]] = await request(host, type, filled, test);
		return checkBody(test, item?.json ?? {});
	} catch (error) {
		return failed(messageOf(error, test));
	}
}

async function request(
	host: Host,
	type: string,
	data: ICredentialDataDecryptedObject,
	test: ICredentialTestRequest,
) {
	const nodeType = requestNode(host, type, test);
	const credentials = { [type]: { id: type, name: type } };
	const node: INode = { ...temporaryNode('n8n-nodes-base.noOp'), credentials };
	const nodeTypes: INodeTypes = {
		getByName: () => nodeType,
		getByNameAndVersion: () => nodeType,
		getKnownTypes: () => ({}),
	};
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const context = new ExecuteContext(
		workflow,
		node,
		additionalData(host, { [type]: data }),
		'internal',
		createRunExecutionData(),
		0,
		[],
		{ main: [[{ json: {} }]] },
		{ node, data: {}, source: null },
		[],
	);
	const decrypted: ICredentialsDecrypted = { id: type, name: type, type, data };
	return (await new RoutingNode(context, nodeType, decrypted).runNode()) ?? [[]];
}

/** Like n8n, adds the declared request to a hidden parameter of a No Operation node. */
function requestNode(host: Host, type: string, { request }: ICredentialTestRequest): INodeType {
	const { description } = host.types.getByNameAndVersion('n8n-nodes-base.noOp', 1);
	const property = {
		displayName: 'Temp',
		name: 'temp',
		type: 'string' as const,
		routing: { request },
		default: '',
	};
	const credentials = [{ name: type, required: true }];
	return { description: { ...description, credentials, properties: [property] } };
}

function temporaryNode(type: string): INode {
	return { id: 'temp', name: 'Temp-Node', type, typeVersion: 1, position: [0, 0], parameters: {} };
}

function checkBody(
	{ rules = [] }: ICredentialTestRequest,
	body: Record<string, unknown>,
): INodeCredentialTestResult {
	for (const rule of rules) {
		if (rule.type !== 'responseSuccessBody') continue;
		const { key, value, message } = rule.properties;
		if (at(body, key) === value) return failed(message);
	}
	return { status: 'OK', message: 'Connection successful!' };
}

/** What is at a path such as `a.b[1]`; `undefined` where nothing is. */
function at(body: unknown, path: string): unknown {
	const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
	return steps.reduce(
		(value, step) => (value as Record<string, unknown> | undefined)?.[step],
		body,
	);
}

interface RequestFailure {
	message?: string;
	cause?: { code?: string; response?: { status: number; statusText?: string } };
}

function messageOf(error: unknown, { rules = [] }: ICredentialTestRequest): string {
	const { message = 'Unknown error', cause } = error as RequestFailure;
	const { response } = cause ?? {};
	if (!response) return cause?.code ?? message;
	for (const rule of rules) {
		if (rule.type !== 'responseCode') continue;
		if (rule.properties.value === response.status) return rule.properties.message;
	}
	return response.statusText || `Received HTTP status code: ${response.status}`;
}

function failed(message: string): INodeCredentialTestResult {
	return { status: 'Error', message };
}
