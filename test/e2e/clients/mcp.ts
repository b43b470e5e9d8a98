// node --import tsx mcp.ts <folder with the client> <URL of the connector> <key>
// Calls the connector with a release of MCP's client: with a key, and signed in. Prints the results as JSON.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type * as ClientModule from '@modelcontextprotocol/sdk/client/index.js';
import type * as TransportModule from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { answerQuestion, callback } from '../../sandbox/signing-in';

const [folder, address, key] = process.argv.slice(2);
const url = new URL(address);
const load = createRequire(join(folder, 'client.js'));

type Sdk = typeof ClientModule & typeof TransportModule;

/** From version 2 on, the client is a package of its own. */
function loadSdk(): Sdk {
	try {
		return load('@modelcontextprotocol/client') as Sdk;
	} catch {
		const client = load('@modelcontextprotocol/sdk/client/index.js') as typeof ClientModule;
		const path = '@modelcontextprotocol/sdk/client/streamableHttp.js';
		return { ...client, ...(load(path) as typeof TransportModule) };
	}
}

const { Client, StreamableHTTPClientTransport } = loadSdk();

type Options = TransportModule.StreamableHTTPClientTransportOptions;

/** Creates a picture, and looks at it and at the balance. */
async function use(options: Options): Promise<object> {
	const client = new Client({ name: 'older client', version: '1.0.0' });
	await client.connect(new StreamableHTTPClientTransport(url, options));
	const call = async (name: string, args: Record<string, unknown> = {}) => {
		const { content, isError } = (await client.callTool({
			name,
			arguments: args,
		})) as CallToolResult;
		const [first] = content;
		const body = first.type === 'text' ? (JSON.parse(first.text) as Record<string, unknown>) : {};
		return { isError, body };
	};
	const { tools } = await client.listTools();
	const request = { type: 'image', model: 'lumen-turbo', prompt: 'A boat', size: '128x128' };
	const { body } = await call('create_generation', request);
	const checked = await call('check_generation', { id: body.id });
	const refused = await call('create_generation', { ...request, model: 'nothing' });
	await client.close();
	return {
		tools: tools.length,
		same: checked.body.id === body.id,
		refused: [refused.isError, (refused.body.error as { code: string }).code],
	};
}

/** Signs in as a person who allows it, and as the client does it. */
async function signIn(): Promise<OAuthClientProvider> {
	const kept: Record<string, unknown> = {};
	const provider = {
		redirectUrl: callback,
		clientMetadata: { client_name: 'Older client', redirect_uris: [callback] },
		clientInformation: () => kept.client,
		saveClientInformation: (client: unknown) => void (kept.client = client),
		tokens: () => kept.tokens,
		saveTokens: (tokens: unknown) => void (kept.tokens = tokens),
		redirectToAuthorization: (question: URL) => void (kept.question = question),
		saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
		codeVerifier: () => kept.verifier,
	} as unknown as OAuthClientProvider;
	const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
	const client = new Client({ name: 'older client', version: '1.0.0' });
	await client.connect(transport).catch((error: unknown) => {
		if (!kept.question) throw error;
	});
	const back = await answerQuestion(kept.question as URL, 'allow');
	await transport.finishAuth(back.searchParams.get('code') ?? '');
	return provider;
}

async function main(): Promise<void> {
	const requestInit = { headers: { authorization: `Bearer ${key}` } };
	const withKey = await use({ requestInit });
	const signedIn = await use({ authProvider: await signIn() });
	process.stdout.write(JSON.stringify({ withKey, signedIn }));
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.stack : 'It failed.'}\n`);
	process.exitCode = 1;
});
