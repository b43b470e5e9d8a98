import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { readGeneration, type Generation } from '../../../client/api/generation';
import { download } from '../../../nodes/shared/http/download';
import { wireGeneration } from '../../support/answers';
import { contextOf } from '../../support/context';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A step may go on for hours, and have thousands of files. */
it('a file that is stored is not held by the step, which goes on', async () => {
	const bodies: Array<WeakRef<object>> = [];
	const { context } = contextOf({
		helpers: {
			httpRequest: async () => {
				const body = new PassThrough().end(Buffer.alloc(100_000, 1));
				bodies.push(new WeakRef(body));
				return { statusCode: 200, headers: {}, body };
			},
			prepareBinaryData: async (whole: AsyncIterable<Buffer>) => {
				let bytes = 0;
				for await (const chunk of whole) bytes += chunk.length;
				return { bytes };
			},
		},
	});
	const generation = readGeneration(wireGeneration({ status: 'completed' }), 0) as Generation;
	const stop = new AbortController();
	const request = { generation, fileName: 'a', refresh: async () => generation };
	for (let files = 0; files < 3; files++) {
		await download(context, { ...request, signal: stop.signal });
	}
	await new Promise((resolve) => setImmediate(resolve));
	collectGarbage();
	expect(bodies.map((body) => body.deref())).toEqual([undefined, undefined, undefined]);
	expect(stop.signal.aborted).toBe(false);
});
