/** Files of items that the service fetches from a real n8n, through an https address in front of it. */
import { createHash } from 'node:crypto';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { proxyCertificate, startTlsProxy } from '../../tools/n8n/tls-proxy';
import type { TlsProxy } from '../../tools/n8n/tls-proxy';
import type { WorkflowFile } from '../../tools/n8n/rest';
import { getBytes } from '../../tools/http';
import { Stage } from './support/stage';
import { trigger } from './support/workflows';

let stage: Stage;
let proxy: TlsProxy;

beforeAll(async () => {
	proxy = await startTlsProxy();
	stage = await Stage.open({
		name: 'signed-files',
		sandbox: { timeScale: 20, fetchInputs: { ca: proxyCertificate } },
		env: { WEBHOOK_URL: proxy.url },
	});
	proxy.passTo(stage.n8n.url.replace('localhost', '127.0.0.1'));
});
afterAll(async () => {
	await stage?.close();
	await proxy?.close();
});
beforeEach(() => stage.sandbox.reset());

const own = (name: string, type: string, parameters: object) => ({
	...{ name, type: `n8n-nodes-media-generation.${type}`, typeVersion: 1, position: [0, 0] },
	id: name,
	credentials: { mediaGenerationApi: { id: null, name: 'Media Generation account' } },
	parameters,
});
const byId = (value: string) => ({ __rl: true, mode: 'id', value });
const video = (more: object = {}) =>
	own('Video', 'videoGeneration', {
		...{ model: byId('aurora-motion-1'), prompt: 'The boat sails', resolution: '480p' },
		...{ duration: 1, imageSource: 'binary', ...more },
	});

/** A trigger, and nodes after it in a row. */
function inARow(name: string, ...nodes: object[]): WorkflowFile {
	const first = {
		name: trigger,
		id: trigger,
		type: 'n8n-nodes-base.manualTrigger',
		typeVersion: 1,
	};
	const all = [{ ...first, position: [0, 0], parameters: {} }, ...nodes] as Array<{ name: string }>;
	const connections = Object.fromEntries(
		all.slice(1).map((node, index) => {
			const to = { node: node.name, type: 'main', index: 0 };
			return [all[index].name, { main: [[to]] }];
		}),
	);
	return { name, nodes: all, connections } as unknown as WorkflowFile;
}

async function ran(file: WorkflowFile) {
	const workflow = await stage.save(file);
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

it('a picture that an earlier node made is the first frame of a video, without an upload elsewhere', async () => {
	const picture = own('Picture', 'imageGeneration', {
		...{ model: byId('lumen-turbo'), prompt: 'A boat', options: { size: '256x256' } },
	});
	const execution = await ran(inARow('Picture to video', picture, video()));
	expect([errorOf(execution), execution.status]).toEqual(['', 'success']);
	const [made, film] = stage.sandbox.books.generations;
	const { data } = await getBytes(stage.sandbox.service.outputUrl(made.id) ?? '');
	expect(film).toMatchObject({
		state: 'completed',
		fetched: [
			{
				name: 'image_url',
				status: 200,
				contentType: 'image/png',
				sha256: createHash('sha256').update(data).digest('hex'),
			},
		],
	});
	expect(proxy.paths).toEqual(['/rest/binary-data/signed']);
	const url = String(film.request.image_url);
	expect(url.startsWith(`${proxy.url}rest/binary-data/signed?token=`)).toBe(true);
	// The token is signed for one file and one hour.
	const claims = Buffer.from(url.split('.')[1], 'base64url').toString();
	const { iat, exp } = JSON.parse(claims) as { iat: number; exp: number };
	expect(exp - iat).toBe(3600);
	const [item] = itemsOf(execution, 'Video');
	expect(JSON.stringify([item, stage.n8n.service.output])).not.toContain('token=');
});

it('a reference file above 4.5 MB is fetched, and a smaller one is not', async () => {
	const large = 5 * 1024 * 1024;
	const picture = own('Picture', 'imageGeneration', {
		...{ model: byId('aurora-image-1'), prompt: '=A boat [size: 5 MB]' },
		options: { size: '256x256' },
	});
	const edit = own('Edit', 'imageGeneration', {
		...{ model: byId('aurora-image-1'), prompt: 'A ship', options: { size: '256x256' } },
		referenceInputs: { input: [{ source: 'binary', binaryPropertyName: 'data' }] },
	});
	const execution = await ran(inARow('Reference', picture, edit));
	expect([errorOf(execution), execution.status]).toEqual(['', 'success']);
	const { fetched } = stage.sandbox.books.generations[1];
	expect(fetched).toMatchObject([{ name: 'inputs[0].value', status: 200 }]);
	expect(fetched[0].bytes).toBeGreaterThanOrEqual(large);
});
