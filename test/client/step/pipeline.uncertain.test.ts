import { ServiceClient, type CreateRequest } from '../../../client/api/client';
import type { Generation } from '../../../client/api/generation';
import type { CreateJob } from '../../../client/jobs/job';
import { networkError } from '../../support/answers';
import { answerLost, refused } from '../../support/fake-service';
import { beginKeyed, keyed } from '../../support/keyed-step';
import { MemoryTable, prompt } from '../../support/memory-table';
import { batch, creating, errorIn, inShort, Step } from '../../support/step';

/** Requests whose charge is not known, and what is stored for them. */

const resubmit = { onUncertainCharge: 'resubmit' } as const;

/** A bug in our code that strikes after the request was sent. */
class BrokenService extends ServiceClient {
	override async create(request: CreateRequest, name: string): Promise<Generation> {
		await super.create(request, name);
		throw new TypeError('A mistake of ours');
	}
}

describe('a request whose response was lost', () => {
	it.each([
		['a broken connection', answerLost],
		['a 5xx from a proxy', () => ({ status: 504, body: '' })],
		['an unreadable response', () => ({ status: 200, body: '<html>' })],
		[
			'a timeout',
			() => {
				throw networkError('ECONNABORTED');
			},
		],
	])('is not sent again, in no later attempt either: %s', async (_, script) => {
		const step = new Step();
		step.fake.order('p0', script);
		for (const when of ['first', 'later']) {
			const error = errorIn((await step.runAgain(batch(1))).outcomes[0]);
			expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
			expect(error.description.includes('earlier attempt')).toBe(when === 'later');
		}
		expect(step.fake.seen).toHaveLength(1);
	});

	it('is sent again after a pause if the user accepts the risk, at most three times', async () => {
		const step = new Step();
		step.fake.order('p0', ...Array<typeof answerLost>(9).fill(answerLost));
		const { outcomes } = await step.run(batch(1, resubmit));
		expect(outcomes.map(inShort)).toEqual(['uncertain_charge']);
		const [first, second, ...others] = step.fake.creating;
		expect(second.at - first.at).toBe(1000);
		expect(others).toHaveLength(2);
	});

	it('has the same idempotency header in every attempt, so that the service can ignore the second', async () => {
		const step = new Step();
		step.fake.order('p0', answerLost, answerLost);
		await step.run(batch(1));
		expect((await step.runAgain(batch(1, resubmit))).outcomes.map(inShort)).toEqual([
			'completed generation-3',
		]);
		const names = step.fake.creating.map(({ headers }) => headers?.['Idempotency-Key']);
		expect(names).toEqual([names[0], names[0], names[0]]);
		expect(names[0]).toMatch(/^[0-9a-f]{32}$/);
	});

	it('stays uncertain if it is rejected when sent again, and says why', async () => {
		const step = new Step();
		step.fake.order('p0', answerLost, refused(402, 'insufficient_credits'));
		const error = errorIn((await step.run(batch(1, resubmit))).outcomes[0]);
		expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown', status: 402 });
		expect(error.description).toContain('Not enough credits');
	});

	it('stays uncertain if another item ends all submissions before it is sent again', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.order('p0', answerLost);
		step.fake.order('p1', refused(401, 'expired_api_key'));
		const { outcomes } = await step.run(batch(2, resubmit));
		expect(outcomes.map(inShort)).toEqual(['uncertain_charge', 'expired_api_key']);
		expect(step.fake.creating).toHaveLength(2);
	});
});

describe('an item whose response an earlier attempt has lost stays uncertain', () => {
	const unbuilt = async () => await Promise.reject(new TypeError('No such file'));
	const failsFirst = (_: Step, jobs: CreateJob[]) => {
		jobs[0] = creating('another boat', 0, { request: unbuilt });
	};
	/** Loses the response of `p1` in the first attempt. Returns the outcome of `p1` in the second one. */
	async function later(prepare: (step: Step, jobs: CreateJob[]) => void) {
		const step = new Step({ maxConcurrent: 1 });
		step.fake.order('p1', answerLost);
		await step.run(batch(2));
		step.cancel = new AbortController();
		const jobs = batch(2, resubmit);
		prepare(step, jobs);
		return { outcome: (await step.run(jobs)).outcomes[1], sent: step.fake.creating.length };
	}

	it.each<[string, (step: Step, jobs: CreateJob[]) => void]>([
		['its file cannot be read', (_, jobs) => (jobs[1].request = unbuilt)],
		['the user stops the step', ({ cancel }) => cancel.abort()],
		['another item fails first, with On Error = Stop', failsFirst],
	])('if %s', async (_, prepare) => {
		const { outcome, sent } = await later(prepare);
		expect(errorIn(outcome)).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
		expect(sent).toBe(2);
	});

	it('if the data table is down, and the error says so', async () => {
		const step = new Step();
		const table = new MemoryTable(step.time);
		const stored = {};
		step.fake.order('p', answerLost);
		const jobs = [keyed('p', 0, 'a', resubmit)];
		await step.time.run(beginKeyed(step, table, 'one', [keyed('p', 0, 'a')], { stored }));
		let calls = 0;
		const fateOf = () => (calls++ === 0 ? prompt : { ...prompt, fails: 'before' as const });
		const down = { fateOf, stored };
		const { outcomes } = await step.time.run(beginKeyed(step, table, 'one', jobs, down));
		expect(errorIn(outcomes[0])).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
		expect(errorIn(outcomes[0]).description).toContain('The data table');
	});
});

it('a bug in our code after a request leaves its charge unknown', async () => {
	const step = new Step();
	const ports = { send: step.fake.send, clock: step.time, random: () => 0 };
	step.service = () => new BrokenService({ ...ports, signal: step.cancel.signal });
	const error = errorIn((await step.run([creating('cat')])).outcomes[0]);
	expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
	expect(error.description).toContain('A mistake of ours');
});
