// node --import tsx openai.ts <folder with the client> <base URL> <key>
// Makes the calls of spec 1.2 with a release of OpenAI's client. Prints their results as JSON.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type OpenAI from 'openai';

const [folder, baseURL, apiKey] = process.argv.slice(2);
const load = createRequire(join(folder, 'client.js'));
const { default: Client } = load('openai') as { default: typeof OpenAI };

async function main(): Promise<void> {
	const client = new Client({ baseURL, apiKey, maxRetries: 0 });
	const models: string[] = [];
	for await (const { id } of client.models.list()) models.push(id);
	const images = models.filter((id) => id.startsWith('aurora-image')).length;
	const size = '1024x1024';
	const made = await client.images.generate({
		model: 'aurora-image-1',
		prompt: 'A lighthouse',
		size,
		n: 1,
	});
	const refused = await client.images
		.generate({ model: 'nothing', prompt: 'A lighthouse' })
		.catch((error: unknown) => error as Record<string, unknown>);
	const { status, code, type, param } = refused as Record<string, unknown>;
	const unknown = await new Client({ baseURL, apiKey: 'nonsense', maxRetries: 0 }).models
		.list()
		.catch((error: unknown) => (error as Error).constructor.name);
	const url = made.data?.[0].url;
	const result = {
		models: models.length,
		images,
		url,
		refused: { status, code, type, param },
		unknown,
	};
	process.stdout.write(JSON.stringify(result));
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.stack : 'It failed.'}\n`);
	process.exitCode = 1;
});
