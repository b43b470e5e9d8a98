import type { FaultAction } from '../../sandbox/faults';
import { NOTHING_KNOWN } from '../support/answers';
import { openStage, prompts } from './stage';

const stage = openStage();

const plain = { downloadOutput: false };
const resubmit = { ...plain, runOptions: { onUncertainCharge: 'resubmit' } };
const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const goOn = { onError: 'continueRegularOutput' as const };

const strike = (action: FaultAction) =>
	stage.sandbox.faults.order({ on: 'create', match: { promptIncludes: 'ship' }, action });
const sent = () => stage.sandbox.requests.on('create').length;
const lost = {
	message: 'The service’s response was lost: this item may have been charged',
	context: { itemIndex: 1, code: 'uncertain_charge' },
};

/** Responses that leave the charge unknown. Here, the items were charged. */
const uncertain: Array<[string, FaultAction]> = [
	['a lost response', { kind: 'loseAnswer' }],
	['a page of a proxy', { kind: 'respond', status: 502, body: '<h1>Bad Gateway</h1>', work: true }],
];

describe.each(uncertain)('after %s', (_case, action) => {
	it('the item fails, and no retry of the step sends it again automatically', async () => {
		strike(action);
		const items = prompts('a boat', 'a ship');
		const run = await stage.run('imageGeneration', plain, { items, settings: again });
		expect(run.error).toMatchObject(lost);
		expect(run.error).toHaveProperty('description', expect.stringContaining('not sent again'));
		const retried = await stage.engine.retry(run);
		expect(retried.error).toMatchObject(lost);
		expect(sent()).toBe(2);
		expect(stage.sandbox.books.liveChargesFor('a ship')).toBe(1);
		expect(stage.sandbox.books.liveChargesFor('a boat')).toBe(1);
	});

	it('the request is sent again if the user accepts the risk', async () => {
		strike(action);
		const run = await stage.run('imageGeneration', resubmit, {
			items: prompts('a boat', 'a ship'),
		});
		expect(run.status).toBe('success');
		expect(sent()).toBe(3);
		expect(stage.sandbox.books.liveChargesFor('a ship')).toBe(2);
		expect(stage.sandbox.books.liveChargesFor('a boat')).toBe(1);
	});
});

describe('a lost response', () => {
	it('becomes an item with its code if the workflow continues, and the others are generated', async () => {
		strike({ kind: 'loseAnswer' });
		const items = prompts('a boat', 'a ship', 'a raft');
		const run = await stage.run('imageGeneration', plain, { items, settings: goOn });
		expect(run.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'completed',
			'uncertain_charge',
			'completed',
		]);
		expect(run.output('Step')[1]).toStrictEqual({
			json: {
				...NOTHING_KNOWN,
				error: expect.stringContaining('may have been charged'),
				error_code: 'uncertain_charge',
			},
			pairedItem: { item: 1 },
		});
	});
});
