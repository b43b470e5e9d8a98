import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { creating, Step } from '../../support/step';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A request is released after it was sent: a reference may have megabytes, and a wait may take half an hour. */
it('the request is not kept in memory during the wait', async () => {
	const step = new Step();
	step.fake.durationMs = () => 600_000;
	const bodies: Array<WeakRef<object>> = [];
	const request = async () => {
		const body = { prompt: 'a boat', inputs: [{ type: 'image', source: 'data', value: 'AAAA' }] };
		bodies.push(new WeakRef(body));
		return { type: 'image' as const, body };
	};
	let held = -1;
	step.time.at(step.time.now() + 300_000, () => {
		// The service's own list of requests.
		for (const seen of step.fake.seen) delete (seen as { body?: object }).body;
		collectGarbage();
		held = bodies.filter((body) => body.deref() !== undefined).length;
	});
	const jobs = [0, 1, 2].map((index) =>
		creating(`p${index}`, index, { timeoutMs: 1_800_000, request }),
	);
	const { outcomes } = await step.run(jobs);
	expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
	expect(bodies).toHaveLength(3);
	expect(held).toBe(0);
});
