import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { readGeneration, type Generation } from '../../../client/api/generation';
import { download } from '../../../nodes/shared/http/download';
import { wireGeneration } from '../../support/answers';
import { contextOf } from '../../support/context';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MOST_TURNS = 100;

/** A step may go on for hours, and have thousands of files. */
it('a file that is stored is not held by the step, which goes on', async () => {
	const bodies: Array<WeakRef<object>> = [];
	const { step } = contextOf({
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
		await download(step, { ...request, signal: stop.signal });
	}
	const held = () => bodies.filter((body) => body.deref() !== undefined).length;
	// A stream that has ended may be held by the event loop for a few more turns, and by the check itself for one.
	for (let turns = 0; turns < MOST_TURNS && held() > 0; turns++) {
		await new Promise((resolve) => setImmediate(resolve));
		collectGarbage();
	}
	expect(bodies).toHaveLength(3);
	expect(held()).toBe(0);
	expect(stop.signal.aborted).toBe(false);
});
