import { planWave } from '../../../client/step/wave-plan';
import { NOTHING_SPENT } from '../../../client/orders/spend-guard';
import { newRow } from '../../../client/orders/table';
import { keyed } from '../../support/keyed-step';

it('a row that was written again, or edited, does not start the timeout of its item anew', () => {
	const scope = { workflowId: 'w', nodeId: 'n', executionId: 'e' };
	const row = { ...newRow(scope, 'k'), id: 1, generation_id: 'g', status: 'pending' };
	const items = { 0: { generation: { id: 'g', since: 1_000 } } };
	const state = {
		items,
		spent: { ...NOTHING_SPENT, requests: 1 },
		resubmitted: 0,
		failed: [],
		earlier: [],
	};
	const order = { inOrder: false };
	const { jobs } = planWave(
		[keyed('p', 0, 'k')],
		state,
		[{ ...row, changedAt: 50_000 }],
		'e',
		60_000,
		order,
	);
	expect(jobs).toMatchObject([{ kind: 'collect', id: 'g', waitingSinceMs: 1_000 }]);
});
