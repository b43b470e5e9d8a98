import { ExecuteContext } from 'n8n-core';

import { openStage, prompts } from './stage';

const stage = openStage();

const goOn = { onError: 'continueRegularOutput' as const };
const plain = { downloadOutput: false };

describe('thousands of invalid items', () => {
	it.each([1, 3000])(
		'read step-wide values from n8n only as often as a single item does: %d',
		async (count) => {
			const asked = (['getContext', 'getWorkflowDataProxy'] as const).map((name) =>
				jest.spyOn(ExecuteContext.prototype, name),
			);
			const items = prompts('a boat', ...Array.from({ length: count }, () => ''));
			const run = await stage.run('imageGeneration', plain, { items, settings: goOn });
			const codes = run.output('Step').map(({ json }) => json.error_code);
			expect(codes).toEqual([undefined, ...Array.from({ length: count }, () => 'invalid_input')]);
			for (const calls of asked) expect(calls.mock.calls.length).toBeLessThan(5);
			jest.restoreAllMocks();
		},
	);
});
