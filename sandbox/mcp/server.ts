import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { ServiceError } from '../basics/errors';
import type { Fields } from '../basics/fields';
import { refused } from './connection';
import type { McpConnection, ToolAnswer } from './connection';
import { mcpTools } from './tools';
import type { McpTool } from './tools';

const instructions =
	'Generations are asynchronous: create_generation answers at once with an id, and check_generation ' +
	'tells when the output is there. Each create_generation spends credits.';

async function carryOut(
	tool: McpTool,
	connection: McpConnection,
	args: Fields,
): Promise<ToolAnswer> {
	try {
		return await tool.work(connection, args);
	} catch (error) {
		if (error instanceof ServiceError) return refused(error);
		throw error;
	}
}

/**
 * Creates the connector for one agent with the official SDK. It uses the SDK's low-level server because the tools are
 * described in JSON Schema and the service checks their arguments itself.
 *
 * @param happened is called with a log line for each tool call
 */
export function createMcpServer(
	connection: McpConnection,
	happened: (line: string) => void,
): Server {
	const info = { name: 'media-generation-sandbox', version: '1.0.0' };
	const server = new Server(info, { capabilities: { tools: {} }, instructions });
	server.setRequestHandler('tools/list', () => ({
		tools: mcpTools.map(({ name, description, annotations, inputSchema }) => ({
			name,
			description,
			annotations,
			inputSchema,
		})),
	}));
	server.setRequestHandler('tools/call', async ({ params }): Promise<CallToolResult> => {
		const tool = mcpTools.find(({ name }) => name === params.name);
		if (!tool) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
		}
		const answer = await carryOut(tool, connection, params.arguments ?? {});
		happened([tool.name, answer.happened].filter(Boolean).join(': '));
		return {
			content: [{ type: 'text', text: JSON.stringify(answer.body) }],
			isError: answer.failed,
		};
	});
	return server;
}
