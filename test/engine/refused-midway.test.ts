import type { INode } from 'n8n-workflow';

import { openStage, prompts } from './stage';

const stage = openStage();

const plain = { downloadOutput: false };
const goOn = { onError: 'continueRegularOutput' as const };

describe('a key that is revoked in the middle', () => {
	const texts = ['a boat [seconds: 20]', 'a ship [seconds: 20]'];

	/** Runs until both generations exist, and revokes the key under which they were made. */
	async function runAndRevoke(settings: Partial<INode> = {}) {
		const { accounts } = stage.sandbox.service;
		const revoke = setInterval(() => {
			if (stage.sandbox.books.totals.created < texts.length) return;
			accounts.keyOf('main').state = 'revoked';
			clearInterval(revoke);
		}, 1);
		const run = await stage.run('imageGeneration', plain, { items: prompts(...texts), settings });
		return { run, made: stage.sandbox.books.generations };
	}

	it('loses nothing: every item has the id of what it has paid for', async () => {
		const { run, made } = await runAndRevoke(goOn);
		expect(run.output('Step').map(({ json }) => json)).toMatchObject(
			made.map(({ id }) => ({ error_code: 'authentication_error', id })),
		);
	});

	it('stops the step with their ids, and once there is a key again nothing is paid again', async () => {
		const { run, made } = await runAndRevoke();
		expect(run.error).toMatchObject({ httpCode: '401' });
		for (const { id } of made) {
			expect(run.error).toHaveProperty('description', expect.stringContaining(id));
		}
		stage.sandbox.service.accounts.keyOf('main').state = 'active';
		const retried = await stage.engine.retry(run);
		expect(retried.output('Step').map(({ json }) => json.id)).toEqual(made.map(({ id }) => id));
		expect(stage.sandbox.books.totals.created).toBe(2);
	});
});

describe('a key that is revoked while a creating request is under way', () => {
	/** As soon as a generation is made, and before anybody is told. */
	function revokeAfter(made: number) {
		const { accounts } = stage.sandbox.service;
		stage.sandbox.faults.order({
			on: 'create',
			skip: made - 1,
			action: { kind: 'delay', ms: 200 },
		});
		const revoke = setInterval(() => {
			if (stage.sandbox.books.totals.created < made) return;
			accounts.keyOf('main').state = 'revoked';
			clearInterval(revoke);
		}, 1);
	}

	it('may have been charged, so that nothing is paid again once there is a key', async () => {
		revokeAfter(2);
		const items = prompts('a boat', 'a ship', 'a raft');
		const parameters = { ...plain, options: { maxConcurrent: 1 } };
		const run = await stage.run('imageGeneration', parameters, { items });
		expect(run.error).toMatchObject({
			description: expect.stringMatching(/The API key was refused.*1 item was not sent/),
			context: { itemIndex: 1, code: 'uncertain_charge' },
		});
		stage.sandbox.service.accounts.keyOf('main').state = 'active';
		const retried = await stage.engine.retry(run);
		expect(retried.error).toMatchObject({ context: { itemIndex: 1, code: 'uncertain_charge' } });
		expect(stage.sandbox.books.liveChargesFor('a ship')).toBe(1);
	});

	it('says of the others that nothing was charged', async () => {
		revokeAfter(2);
		const items = prompts('a boat', 'a ship', 'a raft');
		const parameters = { ...plain, options: { maxConcurrent: 1 } };
		const run = await stage.run('imageGeneration', parameters, { items, settings: goOn });
		const [, uncertain, unsent] = run.output('Step').map(({ json }) => json);
		expect(uncertain.error_code).toBe('uncertain_charge');
		expect(unsent.error_code).toBe('authentication_error');
		expect(unsent.error).toMatch(/^Not sent, as item 1 was refused.*Nothing was charged/);
	});
});

describe('when the credits run out in the middle', () => {
	it.each([
		['empty', 402],
		['emptyForbidden', 403],
	] as const)('nothing more is sent, and every other item says so: %s', async (key, status) => {
		stage.sandbox.service.accounts.setCredits(key, 2);
		const texts = ['a boat', 'a ship', 'a raft', 'a dinghy', 'a skiff'];
		const parameters = { ...plain, options: { maxConcurrent: 1 } };
		const order = { items: prompts(...texts), key, settings: goOn };
		const run = await stage.run('imageGeneration', parameters, order);
		expect(stage.sandbox.requests.on('create').map((sent) => sent.status)).toEqual([
			200,
			200,
			status,
		]);
		expect(run.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'completed',
			'completed',
			'insufficient_credits',
			'insufficient_credits',
			'insufficient_credits',
		]);
		expect(run.output('Step')[4].json.error).toMatch(
			/^Not sent, as item 2 was refused: Not enough credits/,
		);
	});
});
