/** n8n's engine, with functions for tests: retry an execution, end a sleep, run as an agent's tool, use the editor. */
import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	INodeCredentialTestResult,
	INodeListSearchResult,
	INodeParameters,
	INodeType,
} from 'n8n-workflow';
import { Engine } from '../../../tools/engine';
import type { EngineOptions, Run, RunOptions, Stopping } from '../../../tools/engine';
import { openHost } from '../../../tools/engine/host';
import { resume, retry } from './again';
import type { RetryOptions } from './again';
import { agent, agentType, toolWorkflow } from './agent';
import type { ToolCall, ToolPath } from './agent';
import { aiTools } from './ai-tool';
import { listSearch, testCredential } from './design-time';
import type { ListSearch } from './design-time';

/** How a node is called as a tool. */
interface ToolOptions extends RunOptions {
	/** Default: `invoke`. */
	path?: ToolPath;
	/** Settings of the tool's node, such as `retryOnFail` or `onError`. */
	node?: Partial<INode>;
}

/**
 * Sets up n8n's engine in this process, with the stand-in for an agent and the tools that it can call.
 * Only one engine can be open at a time. Throws as `createEngine` does.
 */
export async function createTestEngine(options: EngineOptions = {}): Promise<TestEngine> {
	const extraNodes = { [agentType]: agent, ...options.extraNodes };
	return new TestEngine(await openHost({ ...options, extraNodes, deriveNode: aiTools() }));
}

/** The engine of the tests. */
export class TestEngine extends Engine {
	/** n8n's "Retry execution". Throws when the execution has succeeded. */
	async retry(run: Run, options?: RetryOptions): Promise<Run> {
		return this.seen(await retry(this.host, run.record, options));
	}

	/** Wakes a sleeping execution now. Throws when it does not sleep. */
	async resume(run: Run, stopping?: Stopping): Promise<Run> {
		return this.seen(await resume(this.host, run.record, stopping));
	}

	/** Returns an execution by its id, for sub-workflows; undefined when there is none. */
	execution(id: string): Run | undefined {
		const record = this.host.records.get(id);
		return record && this.seen(record);
	}

	/** Returns a node type as n8n has loaded it. Throws when it is unknown. */
	nodeType(type: string, version?: number): INodeType {
		return this.host.types.getByNameAndVersion(type, version);
	}

	/** Searches a list of a node's parameter. Throws what the node throws. */
	async listSearch(search: ListSearch): Promise<INodeListSearchResult> {
		return await listSearch(this.host, search);
	}

	/** Tests a credential by the request that its type declares. */
	async testCredential(
		type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<INodeCredentialTestResult> {
		return await testCredential(this.host, type, data);
	}

	/**
	 * Calls a node as the tool of an AI agent, once for each set of arguments.
	 * Returns what the agent would be given, and the run itself; a failed tool fails the run.
	 */
	async runAsTool(
		nodeType: string,
		parameters: INodeParameters,
		args: IDataObject | IDataObject[] = {},
		{ path = 'invoke', node, ...options }: ToolOptions = {},
	): Promise<{ calls: ToolCall[]; run: Run }> {
		const input = [args].flat().map((json) => ({ json }));
		const workflow = toolWorkflow(nodeType, parameters, path, node);
		const run = await this.run(workflow, { ...options, input });
		const calls = run.output('Agent').map(({ json }) => json as unknown as ToolCall);
		return { calls, run };
	}
}
