import { suspensionOf } from '../../nodes/WaitForCompletion/suspend';
import { contextOf } from '../support/context';

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<object>('n8n-workflow'),
	summarizeDynamicCredentialsUsage: undefined,
}));

describe('a suspended wait on a release of n8n that would lose its result', () => {
	it('polls instead, and says why', () => {
		const { context, hints } = contextOf({ parameters: { mode: 'suspend' } });
		expect(suspensionOf(context)).toBeUndefined();
		expect(hints).toMatchObject([
			{
				message: expect.stringMatching(/^Polled instead of suspending, because .*2\.31/) as string,
			},
		]);
	});

	it('says nothing if nothing was to be suspended', () => {
		const { context, hints } = contextOf({ parameters: { mode: 'poll' } });
		expect(suspensionOf(context)).toBeUndefined();
		expect(hints).toEqual([]);
	});
});
