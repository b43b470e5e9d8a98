import type { ServiceClient } from '../../../client/api/client';
import { StepGate } from '../../../client/orders/slot-pool';
import { SpendGuard } from '../../../client/orders/spend-guard';
import { VirtualTime } from '../../support/virtual-time';

it('does not wait for the balance once the step has ended', async () => {
	const balance = async () => await new Promise<never>(() => undefined);
	const service = { balance } as unknown as ServiceClient;
	const guard = new SpendGuard({ minimumBalance: 1 }, { clock: new VirtualTime(), service });
	const gate = new StepGate(new AbortController().signal);
	await guard.admit(gate);
	const allowed = guard.requireBalance(gate);
	gate.close(new Error('Another item failed'));
	await expect(allowed).rejects.toThrow('Another item failed');
});
