import type { Job } from '../../../client/jobs/job';
import { outcomeOfCall } from '../../../nodes/shared/run/tool-call';

/** A job that was stopped because the time for the agent's call was over. */
const ended = (onTimeout: Job['onTimeout'], status: string | null) =>
	outcomeOfCall({ kind: 'stopped', generation: status === null ? null : { id: 'a', status } }, {
		onTimeout,
		timeoutMs: 45_000,
	} as Job);

describe('an agent whose call is over gets', () => {
	it.each([
		['processing', true],
		['completed', false],
	])('the generation as last seen: %s', (status, isEarly) => {
		const generation = { id: 'a', status, timed_out: isEarly, url: null };
		expect(ended('continue', status)).toMatchObject({ kind: 'done', generation, output: null });
	});

	it('an error that names the generation, if On Timeout is Error', () => {
		const error = { code: 'timeout', charge: 'paid', generation: { id: 'a' } };
		expect(ended('error', 'processing')).toMatchObject({ kind: 'error', error });
	});

	it('an error without a charge if nothing was created', () => {
		const error = { code: 'timeout', charge: 'none', generation: null };
		expect(ended('continue', null)).toMatchObject({ kind: 'error', error });
	});
});
