import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { inARow } from '../../tools/engine/in-a-row';
import type { Run } from '../../tools/engine';
import { ownNode } from '../support/workflow';
import { items, openKeyedStage, workflowWith } from './keyed';
import { byId } from './stage';

/** Keys that belong to a name instead of a node of a workflow. */

const { stage, created, rows } = openKeyedStage();

const list = items(['a', 'a boat'], ['b', 'a ship']);
const key = '={{ $json.key }}';
const scoped = (keyScope: unknown, more: INodeParameters = {}): INodeParameters => ({
	downloadOutput: false,
	options: { idempotencyKey: key, keyScope } as INodeParameters,
	...more,
});

const run = async (
	id: string,
	parameters = scoped('posters'),
	all: IDataObject[] = list,
	settings: IDataObject = {},
) => {
	const workflow = workflowWith(parameters, { id: `node of ${id}`, ...settings });
	return await stage.runWorkflow({ ...workflow, id }, { items: all });
};
const idsOf = (ran: Run, step = 'Step') => ran.output(step).map(({ json }) => json.id);

const video = (parameters: INodeParameters) => {
	const usual = { model: byId('aurora-motion-1'), prompt: '={{ $json.prompt }}', duration: 0.1 };
	const step = ownNode(
		'Step',
		'videoGeneration',
		{ ...usual, ...parameters },
		{ id: 'video-node' },
	);
	return { ...inARow(step), id: 'the-videos' };
};

describe('Share Keys Under a Name', () => {
	it('lets a copy of a workflow reuse its generations: nothing is charged again', async () => {
		const first = await run('the-workflow');
		const copied = await run('the-copy');
		expect(created()).toBe(2);
		expect(idsOf(copied)).toEqual(idsOf(first));
		expect(copied.hints('Step').map(({ message }) => message)).toEqual([
			expect.stringContaining('2 reused, no charge'),
		]);
	});

	it('is on record as the node, and without a workflow', async () => {
		await run('the-workflow');
		expect(rows()).toMatchObject(
			['a', 'b'].map((name) => ({ key: name, node_id: 'scope:posters', workflow_id: null })),
		);
	});

	it('has its own keys: another name, and no name, are other keys', async () => {
		await run('the-workflow');
		await run('the-workflow', scoped('banners'));
		await run('the-workflow', scoped(''));
		await run('the-workflow', scoped(' '));
		expect(created()).toBe(6);
	});

	it.each([1, 2])('keeps the keys of images and of videos apart: %s', async (count) => {
		const all = list.slice(0, count);
		await run('the-workflow', scoped('posters'), all);
		const films = scoped('posters', { waitForCompletion: false });
		const filmed = await stage.runWorkflow(video(films), { items: all });
		expect([filmed.error, created()]).toEqual([undefined, 2 * count]);
		await stage.runWorkflow(video(films), { items: all });
		await run('the-copy', scoped('posters'), all);
		expect(created()).toBe(2 * count);
		// A service that honors the header must not take one for the other.
		const names = stage.sandbox.requests.on('create').map(({ idempotencyKey }) => idempotencyKey);
		expect(new Set(names).size).toBe(2 * count);
	});

	it.each([
		['an object', '={{ ({ name: "posters" }) }}'],
		['undefined', '={{ $json.mistyped }}'],
	])('that is %s is an error, and nothing is sent', async (_, name) => {
		const ran = await run('the-workflow', scoped(name));
		expect(ran.error).toMatchObject({
			message: expect.stringContaining('Share Keys Under a Name') as string,
			context: { code: 'invalid_input', itemIndex: 0 },
		});
		expect(stage.arrived).toBe(0);
	});

	it('must be the same for all items of a step', async () => {
		const ran = await run('the-workflow', scoped('={{ $json.key }}'));
		expect(ran.error).toMatchObject({
			message: expect.stringContaining(
				'Share Keys Under a Name must be the same for all items',
			) as string,
			context: { code: 'invalid_input', itemIndex: 1 },
		});
		expect(stage.arrived).toBe(0);
	});
});
