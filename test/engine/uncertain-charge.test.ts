import type { FaultAction } from '../../sandbox/faults';
import { NOTHING_KNOWN } from '../support/answers';
import { openStage, prompts } from './stage';

const stage = openStage();

const plain = { downloadOutput: false };
const resubmit = { ...plain, runOptions: { onUncertainCharge: 'resubmit' } };
const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const goOn = { onError: 'continueRegularOutput' as const };

const strike = (action: FaultAction, times = 1) =>
	stage.sandbox.faults.order({ on: 'create', match: { promptIncludes: 'ship' }, times, action });
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

	it('of the first item does not make Continue with Retry On Fail send it again', async () => {
		strike({ kind: 'loseAnswer' });
		const settings = { ...goOn, ...again };
		const run = await stage.run('imageGeneration', plain, {
			items: prompts('a ship', 'a boat'),
			settings,
		});
		expect(run.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'uncertain_charge',
			'completed',
		]);
		expect(sent()).toBe(2);
	});

	it('can be sent again later, once the option says so', async () => {
		strike({ kind: 'reset' });
		const failed = await stage.run('imageGeneration', plain, { items: prompts('a ship') });
		expect(failed.error).toMatchObject({ context: { code: 'uncertain_charge' } });
		const workflow = structuredClone(failed.record.workflow);
		Object.assign(workflow.nodes[1].parameters, resubmit);
		const retried = await stage.engine.retry(failed, { workflow });
		expect(retried.status).toBe('success');
		expect(stage.sandbox.books.liveChargesFor('a ship')).toBe(1);
	});
});

describe("one of the service's own 5xx errors", () => {
	it.each(['server_error', 'model_unavailable', 'service_unavailable'] as const)(
		'is retried, and nothing is charged twice: %s',
		async (code) => {
			strike({ kind: 'error', code }, 2);
			const run = await stage.run('imageGeneration', plain, { items: prompts('a boat', 'a ship') });
			expect(run.status).toBe('success');
			expect(sent()).toBe(4);
			expect(stage.sandbox.books.liveChargesFor('a ship')).toBe(1);
			expect(run.hints('Step')).toEqual([
				{
					message: '2 of 2 ready. 2 requests were retried.',
					location: 'outputPane',
					type: 'info',
				},
			]);
		},
	);

	it.each(['invalid_parameter', 'generation_in_progress', 'payload_too_large'] as const)(
		'that is permanent is not retried: %s',
		async (code) => {
			strike({ kind: 'error', code });
			await stage.run('imageGeneration', plain, { items: prompts('a ship') });
			expect(sent()).toBe(1);
		},
	);

	it.each(['expired', 'revokedAlternate', 'revoked'] as const)(
		'about the key is not retried: %s',
		async (key) => {
			await stage.run('imageGeneration', plain, { items: prompts('a ship'), key });
			expect(sent()).toBe(1);
		},
	);
});
