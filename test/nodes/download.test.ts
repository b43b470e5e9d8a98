import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';

import { readGeneration, type Generation } from '../../client/wire/generation';
import { wallClock } from '../../nodes/shared/clock';
import { download } from '../../nodes/shared/download';
import { wireGeneration } from '../support/answers';
import { contextOf } from '../support/context';

jest.spyOn(wallClock, 'sleep').mockResolvedValue();

const generation = readGeneration(wireGeneration({ status: 'completed' }), 0) as Generation;

/** A download of which every try gets a body of this kind. */
async function downloading(bodyOf: () => Promise<Readable>) {
	const { context } = contextOf({
		helpers: {
			httpRequest: async () => ({ statusCode: 200, headers: {}, body: await bodyOf() }),
		},
	});
	const { signal } = new AbortController();
	const refresh = async () => generation;
	return await download(context, { generation, fileName: 'a', refresh, signal });
}

describe('a body that ends before its first bytes', () => {
	it.each<[string, () => Promise<Readable>]>([
		[
			'broken before anyone has read it',
			async () => {
				const body = new PassThrough();
				const broken = once(body, 'error');
				body.destroy(new Error('reset'));
				await broken;
				return body;
			},
		],
		[
			'closed before anyone has read it',
			async () => {
				const body = new PassThrough().destroy();
				await once(body, 'close');
				return body;
			},
		],
		[
			'closed without a word while it is waited for',
			async () => {
				const body = new PassThrough();
				setImmediate(() => body.destroy());
				return body;
			},
		],
	])('is a download that failed, and no endless wait: %s', async (_, bodyOf) => {
		await expect(downloading(bodyOf)).rejects.toMatchObject({
			code: 'download_failed',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
	});
});
