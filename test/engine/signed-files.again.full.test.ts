/** When the URL of a file is signed, and what counts as the same file: nothing is charged twice. */
import { BinaryDataService } from 'n8n-core';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { bareNode } from '../../tools/engine/bare-node';
import { Container } from '../../tools/engine/core';
import { inARow, type NodeParts } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { sleepToEnd } from './asleep';
import { files, filesNodes, fromFile, given, inItem, picture, publicUrl } from './files-node';
import { openKeyedStage } from './keyed';
import { byId } from './stage';

const usual: INodeParameters = {
	model: byId('aurora-motion-1'),
	prompt: '={{ $json.prompt }}',
	resolution: '480p',
	duration: 0.1,
};
const uploads = bareNode('upload', {});
const extraNodes = { ...filesNodes, 'test.up': uploads };
const { stage, rows } = openKeyedStage({ publicUrl, extraNodes });
const storage = () => Container.get(BinaryDataService);

/** A workflow with a batch of videos from files that sleeps. */
function sleeping(idempotencyKey: string, more: INodeParameters = {}, ...before: NodeParts[]) {
	const parameters = {
		...usual,
		...fromFile,
		...more,
		options: { idempotencyKey },
		runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
	};
	const step = ownNode('Step', 'videoGeneration', parameters, { id: 'n' });
	return { ...inARow(...before, step), id: 'the-workflow' };
}
const urlsSent = () => stage.bodies.map((body) => String(body.image_url));

describe('the signed URL of a first frame', () => {
	it('with a key counts as a changed request only if it is another file', async () => {
		const parameters = {
			...usual,
			...fromFile,
			options: { idempotencyKey: '={{ $json.prompt }}' },
		};
		const step = ownNode('Step', 'videoGeneration', parameters, { id: 'n' });
		const stored = await stage.runWorkflow(inARow(files), {
			items: [given(picture()), given(picture())],
		});
		const [one, other] = stored
			.output('Files')
			.map(({ binary }) => ({ json: { prompt: 'A boat' }, binary }));
		const execute = async (item: INodeExecutionData) => {
			const run = await stage.runWorkflow({ ...inARow(step), id: 'w' }, { items: [item] });
			expect(run.error?.message).toBeUndefined();
			stage.leap(1200);
			return JSON.stringify(run.hints('Step'));
		};
		expect(await execute(one)).not.toContain('the prompt or a setting');
		expect(await execute(one)).not.toContain('the prompt or a setting');
		expect(await execute(other)).toContain('the prompt or a setting is different');
		expect(stage.sandbox.books.totals.created).toBe(1);
		expect(JSON.stringify(rows())).not.toContain('token');
	});

	it('of a sleeping batch belongs to the execution that sleeps, and is signed by the wave that sends it', async () => {
		const list = [0, 1, 2].map((index) => ({
			json: { key: `k${index}`, prompt: `boat ${index} [seconds: 300]` },
			binary: inItem(20 + index).binary,
		}));
		const asleep = await stage.runWorkflow(sleeping('={{ $json.key }}'), { items: list });
		expect(asleep.status).toBe('waiting');
		const end = await sleepToEnd(stage, asleep);
		expect([end.error?.message, end.status]).toEqual([undefined, 'success']);
		for (const [index, url] of urlsSent().entries()) {
			expect(await end.signedFile(url)).toHaveLength(20 + index);
			const token = new URL(url).searchParams.get('token') ?? '';
			const [, claims] = token.split('.');
			const { id } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { id: string };
			expect(id).toContain(`/executions/${asleep.executionId}/`);
		}
		expect(JSON.stringify(rows())).not.toContain('token');
		expect(JSON.stringify(end.hints('Step'))).not.toContain('the prompt or a setting');
	});

	it.each([true, false])(
		'works after the sleep if a webhook received the file (n8n renames it: %s)',
		async (isRenamed) => {
			uploads.execute = async function () {
				const place = { type: 'execution' as const, workflowId: 'w', executionId: '' };
				const file = { mimeType: 'image/png', fileName: 'a.png', data: '' };
				const data = await storage().store(place, Buffer.alloc(30, 7), file);
				const prompt = 'boat [seconds: 300]';
				return [[0, 1].map((n) => ({ json: { key: `k${n}`, prompt }, binary: { data } }))];
			};
			const up = { name: 'Up', type: 'test.up' };
			const asleep = await stage.runWorkflow(
				sleeping('={{ $json.key }}', { imageBinaryField: 'data' }, up),
				{},
			);
			expect(asleep.status).toBe('waiting');
			const { id = '' } = asleep.output('Up')[0].binary?.data ?? {};
			// As n8n does when the execution of a webhook falls asleep, in regular mode.
			const lasting = id.replace('/temp/', `/${asleep.executionId}/`);
			const pathOf = (of: string) => of.split(':')[1];
			if (isRenamed) await storage().rename(pathOf(id), pathOf(lasting));
			const end = await sleepToEnd(stage, asleep);
			expect(end.output('Step').map(({ json }) => json.status)).toEqual(['completed', 'completed']);
			expect(urlsSent()).toHaveLength(2);
			for (const url of urlsSent()) expect(await asleep.signedFile(url)).toHaveLength(30);
		},
	);
});
