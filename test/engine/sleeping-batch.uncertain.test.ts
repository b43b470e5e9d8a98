import type { INodeParameters } from 'n8n-workflow';

import type { Run } from '../../tools/engine';
import { sleepToEnd } from './asleep';
import { items, openKeyedStage } from './keyed';

/** A suspended batch that sends a request again whose response was lost, while the account is full. */

const { stage, created, execute } = openKeyedStage();

const parameters = {
	downloadOutput: false,
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 3, onUncertainCharge: 'resubmit' },
} as INodeParameters;

const endsOf = (run: Run) => run.output('Step').map(({ json }) => json.error_code ?? json.status);
const list = items(['a', 'a boat [seconds: 300]'], ['b', 'a ship [seconds: 300]']);

it('a request that is to be sent again waits for a slot, and does not end as uncertain by a sleep', async () => {
	stage.sandbox.service.occupy('main', 8);
	const match = { promptIncludes: 'ship' };
	stage.sandbox.faults.order({ on: 'create', match, action: { kind: 'loseAnswer' } });
	const first = await execute(list, parameters);
	const end = await sleepToEnd(stage, first);
	expect([end.error?.message, endsOf(end)]).toEqual([undefined, ['completed', 'completed']]);
	expect(created()).toBe(3);
});
