import { openStage, prompts } from './stage';

const stage = openStage();

const plain = { downloadOutput: false };
const goOn = { onError: 'continueRegularOutput' as const };

type KeyRefusal = 'authentication_error' | 'invalid_api_key' | 'expired_api_key' | 'forbidden';

describe('a key that is rejected at the second item of a batch', () => {
	const items = prompts('a boat', 'a ship', 'a raft');
	const parameters = { ...plain, runOptions: { maxConcurrent: 1 } };

	/** Makes the service accept the first creating request and reject the key of the second. */
	function refuseSecond(code: KeyRefusal) {
		stage.sandbox.faults.order({ on: 'create', skip: 1, action: { kind: 'error', code } });
	}

	it.each<[KeyRefusal, RegExp]>([
		['authentication_error', /^The API key was rejected.*Nothing was charged/],
		['invalid_api_key', /^The API key was rejected.*Nothing was charged/],
		['expired_api_key', /^The API key has expired or was revoked.*Nothing was charged/],
		['forbidden', /^The API key lacks permission for this action.*Nothing was charged/],
	])('nothing is charged for that item: %s', async (code, said) => {
		refuseSecond(code);
		const run = await stage.run('imageGeneration', parameters, { items, settings: goOn });
		const [made, refused, unsent] = run.output('Step').map(({ json }) => json);
		expect(made.status).toBe('completed');
		expect(refused).toMatchObject({ error_code: code, error: expect.stringMatching(said) });
		expect(unsent.error).toMatch(/^Skipped because item 2 of 3 failed.*Nothing was charged/);
	});
});

describe('when the credits run out in the middle', () => {
	it.each([
		['empty', 402],
		['emptyForbidden', 403],
	] as const)('nothing more is sent, and every other item says so: %s', async (key, status) => {
		stage.sandbox.service.accounts.setCredits(key, 2);
		const texts = ['a boat', 'a ship', 'a raft', 'a dinghy', 'a skiff'];
		const parameters = { ...plain, runOptions: { maxConcurrent: 1 } };
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
			/^Skipped because item 3 of 5 failed: Not enough credits/,
		);
	});
});
