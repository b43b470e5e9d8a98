/** The sandbox with the first and the last release of each major version of the clients that the service works with. */
import { startSandbox } from '../../../sandbox/server';
import type { Sandbox } from '../../../sandbox/server';
import { runClient } from './client';

let sandbox: Sandbox;

beforeEach(async () => (sandbox = await startSandbox()));
afterEach(async () => await sandbox.close());

it.each(['4.0.0', '4.104.0', '5.0.0', '5.23.2', '6.0.0', '6.49.0', '7.0.0', '7.57.0'])(
	"OpenAI's client %s lists models, creates an image and throws its own errors (spec 1.2)",
	async (version) => {
		const { url, keys } = sandbox;
		const result = await runClient('openai.ts', ['openai', version], `${url}/v1`, keys.main);
		const [made] = sandbox.books.generations;
		expect(result).toEqual({
			models: 16,
			images: 2,
			url: sandbox.service.outputUrl(made.id),
			refused: { status: 404, code: 'model_not_found', type: 'not_found', param: 'model' },
			unknown: 'AuthenticationError',
		});
		expect(sandbox.books.totals).toMatchObject({ created: 1, charged: 8 });
	},
);

const one = '@modelcontextprotocol/sdk';
const two = '@modelcontextprotocol/client';

// Version 1.10 is the first one with streamable HTTP.
it.each([
	[one, '1.10.0'],
	[one, '1.12.3'],
	[one, '1.17.5'],
	[one, '1.21.2'],
	[one, '1.26.0'],
	[two, '2.0.0'],
	[two, '2.4.0'],
])("MCP's client %s %s creates with a key, and signed in", async (name, version) => {
	const connector = `${sandbox.url}/mcp`;
	const used = { tools: 6, same: true, refused: [true, 'model_not_found'] };
	const result = await runClient('mcp.ts', [name, version], connector, sandbox.keys.main);
	expect(result).toEqual({ withKey: used, signedIn: used });
	expect(sandbox.books.generations.map(({ key }) => key)).toEqual(['main', 'app-1']);
});
