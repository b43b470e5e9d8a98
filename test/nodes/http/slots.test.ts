import type { INode } from 'n8n-workflow';

import type { SlotPool } from '../../../client/orders/slot-pool';
import { withSlots } from '../../../nodes/shared/http/slots';

const node = (id?: string | null) => ({
	node: {
		...(id !== undefined && { credentials: { mediaGenerationApi: { id, name: 'x' } } }),
	} as INode,
});

/** Runs steps with these credentials at the same time, and returns the pool that each one gets. */
async function atOnce(...ids: Array<string | null | undefined>): Promise<SlotPool[]> {
	const given: SlotPool[] = [];
	const run = async ([id, ...others]: typeof ids): Promise<void> =>
		await withSlots(node(id), async (slots) => {
			given.push(slots);
			if (others.length > 0) await run(others);
		});
	await run(ids);
	return given;
}

describe('the slots of an account', () => {
	it('are shared by the steps of its credential, and by no others', async () => {
		const [one, same, other] = await atOnce('a', 'a', 'b');
		expect(same).toBe(one);
		expect(other).not.toBe(one);
	});

	it('are forgotten when no step uses them, however the last one ended', async () => {
		const [before] = await atOnce('a', 'a');
		await expect(
			withSlots(node('a'), async () => await Promise.reject(new Error('broken'))),
		).rejects.toThrow('broken');
		const [after] = await atOnce('a');
		expect(after).not.toBe(before);
	});
});
