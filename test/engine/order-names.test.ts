import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { items, keyed, openKeyedStage, workflowWith } from './keyed';

const { stage, execute } = openKeyedStage({ honorsIdempotencyKeys: true });

/** Returns the value of `Idempotency-Key` in each creating request, in order. */
const names = () => stage.sandbox.requests.on('create').map(({ idempotencyKey }) => idempotencyKey);

const unkeyed: INodeParameters = { downloadOutput: false };
const boat = items(['a', 'a boat']);
const random = { seed: '={{ Math.floor(Math.random() * 1e9) }}' };

/** Rejects the next creating request without a charge, in a way that the step does not retry. */
function refuseNext() {
	stage.sandbox.faults.order({
		on: 'create',
		action: { kind: 'error', code: 'insufficient_credits' },
	});
}

/** Makes the service process the next creating request, but lose the response. */
function loseNext() {
	stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
}

const resubmit = { runOptions: { onUncertainCharge: 'resubmit' } };

function withRandomSeed(parameters: INodeParameters): INodeParameters {
	return {
		...parameters,
		options: { ...(parameters.options as IDataObject), ...random },
	} as INodeParameters;
}

describe('after a rejection without a charge, the order keeps its name', () => {
	it.each([
		['without a key', unkeyed],
		['with a key', keyed],
	])('in "Retry execution", %s', async (_, parameters) => {
		refuseNext();
		const failed = await execute(boat, parameters);
		expect((await stage.engine.retry(failed)).status).toBe('success');
		expect(names()).toHaveLength(2);
		expect(new Set(names()).size).toBe(1);
	});
});

describe('a different order has a different name', () => {
	it.each([
		['without a key', unkeyed],
		['with a key', keyed],
	])(
		'a generation that replaces a failed one, even if it is rejected at first, %s',
		async (_, parameters) => {
			stage.sandbox.faults.order({ on: 'create', action: { kind: 'fail' } });
			const failed = await execute(boat, parameters);
			refuseNext();
			const refused = await stage.engine.retry(failed);
			expect((await stage.engine.retry(refused)).status).toBe('success');
			const [first, second, third] = names();
			expect(second).not.toBe(first);
			expect(third).toBe(second);
		},
	);
});

describe('a service that supports the header does not charge twice for a lost response', () => {
	it.each([
		['without a key, within the step', unkeyed, 'step'],
		['with a key, within the step', keyed, 'step'],
		['without a key, in "Retry execution" with another random seed', unkeyed, 'retry'],
		['with a key, in "Retry execution" with another random seed', keyed, 'retry'],
	])('%s', async (_, parameters, where) => {
		loseNext();
		const seeded = withRandomSeed(parameters);
		const resent = { ...seeded, ...resubmit };
		const lost = await execute(boat, where === 'step' ? resent : seeded);
		const last =
			where === 'step' ? lost : await stage.engine.retry(lost, { workflow: workflowWith(resent) });
		expect(last.status).toBe('success');
		expect(names()).toHaveLength(2);
		expect(stage.sandbox.books.totals.created).toBe(1);
	});

	it('with a key, in a new execution', async () => {
		loseNext();
		expect((await execute(boat)).error).toMatchObject({ context: { code: 'uncertain_charge' } });
		const again = await execute(boat, { ...keyed, ...resubmit });
		expect(again.status).toBe('success');
		expect(stage.sandbox.books.totals.created).toBe(1);
	});
});
