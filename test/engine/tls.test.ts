import { startTlsServer, type Certificate, type TlsServer } from '../support/tls-server';
import { openStage, prompts } from './stage';

const stage = openStage();

let server: TlsServer;
afterEach(async () => {
	stage.sandbox.service.storageOrigin = stage.sandbox.storageUrl;
	await server.close();
});

const unknown: Certificate[] = ['selfSigned', 'company', 'companyChain'];

describe('a company’s own CA that n8n does not know', () => {
	it.each(unknown)('is named by the error of a creating request: %s', async (certificate) => {
		server = await startTlsServer(certificate);
		const credential = { baseUrl: server.url };
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat'), credential });
		expect(run.error).toMatchObject({
			message: 'The service cannot be reached: its certificate was not accepted',
			description: expect.stringMatching(
				/Nothing was charged for it\. .*NODE_EXTRA_CA_CERTS/,
			) as string,
			context: { code: 'connection_failed' },
		});
		expect([server.connections, server.requests]).toEqual([1, 0]);
	});

	it.each(['generationCredits', 'generationModels', 'waitForCompletion'] as const)(
		'is named by the error of a request that reads: %s',
		async (node) => {
			server = await startTlsServer('company');
			const credential = { baseUrl: server.url };
			const run = await stage.run(node, {}, { items: [{ id: 'an-id' }], credential });
			expect(run.error).toHaveProperty(
				'description',
				expect.stringContaining('NODE_EXTRA_CA_CERTS'),
			);
			expect(server.connections).toBe(1);
		},
	);

	it.each(unknown)('is named by the error of a download: %s', async (certificate) => {
		server = await startTlsServer(certificate);
		stage.sandbox.service.storageOrigin = server.url;
		const parameters = { runOptions: { readiness: 'status' } };
		const run = await stage.run('imageGeneration', parameters, { items: prompts('a boat') });
		expect(run.error).toMatchObject({
			message: 'The storage cannot be reached: its certificate was not accepted',
			description: expect.stringMatching(
				/NODE_EXTRA_CA_CERTS.*Wait for Completion, at no charge/s,
			) as string,
			context: { code: 'download_failed' },
		});
		expect([server.connections, server.requests]).toEqual([1, 0]);
	});
});
