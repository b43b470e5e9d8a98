import type { INodeParameters } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import { everythingIn } from '../support/everything';
import { ownType } from '../support/workflow';
import { openKeyedStage } from './keyed';
import { byId } from './stage';

/** Tools of an agent, and retries, whose data table or service does not answer. */

const { stage, tables } = openKeyedStage();

const parameters: INodeParameters = {
	model: byId('lumen-turbo'),
	prompt: "={{ $fromAI('prompt', 'what to make', 'string') }}",
	options: { size: '64x64', idempotencyKey: 'a' },
};
const thrice = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const hanging = async () => await new Promise<never>(() => undefined);
const live = () => stage.sandbox.books.liveChargesFor('A boat');

/** Calls the tool. Returns how long that took in seconds, and everything that it said. */
async function call() {
	const began = wallClock.now();
	const { calls, run } = await stage.engine.runAsTool(
		ownType('imageGeneration'),
		parameters,
		[{ prompt: 'A boat' }],
		{ credentials: stage.credentials(), path: 'engine', node: thrice },
	);
	const seconds = (wallClock.now() - began) / 1000;
	return { seconds, said: everythingIn([run.error, run.runData, calls]) };
}

describe('the call of a tool ends within a minute, with all of its tries', () => {
	it('if the data table does not answer', async () => {
		tables.before = hanging;
		expect((await call()).seconds).toBeLessThan(59);
		expect(live()).toBe(0);
	});

	it('with its generation, if the table does not take the ID', async () => {
		tables.add('media_generations');
		tables.before = async () => (live() > 0 ? await hanging() : undefined);
		const { seconds, said } = await call();
		expect(seconds).toBeLessThan(59);
		expect(said).toContain(stage.sandbox.books.generations[0].id);
	});
});

describe('a later try does not say that nothing was charged for an item whose response was lost', () => {
	it('of a tool whose call is over', async () => {
		tables.add('media_generations');
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
		tables.before = async () => (live() > 0 ? await hanging() : undefined);
		const { said } = await call();
		expect([live(), stage.sandbox.requests.on('create').length]).toEqual([1, 1]);
		expect(said).toContain('may have been charged');
		expect(said).not.toContain('Nothing was charged');
	});
});
