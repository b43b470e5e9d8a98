/** Rejections that are ordered state the same numbers as those that occur by themselves (spec 7, 8.1). */
import type { ErrorName } from '../../sandbox/basics/errors';
import type { ConnectedApp } from '../../sandbox/accounts/connected-apps';
import { VirtualSandbox } from './virtual';
import type { ErrorBody } from './virtual';

let sandbox: VirtualSandbox;
let app: ConnectedApp;

beforeEach(() => {
	sandbox = new VirtualSandbox();
	app = sandbox.connectApp();
});

const messageOf = ({ body }: { body: unknown }) => (body as ErrorBody).error.message;

const ordered: ReadonlyArray<[string, (code: ErrorName) => { status: number; body: unknown }]> = [
	[
		'as a fault',
		(code) => {
			sandbox.service.faults.order({ on: 'create', action: { kind: 'error', code } });
			return sandbox.image({}, app);
		},
	],
	['by a directive', (code) => sandbox.image({ prompt: `A boat [reject: ${code}]` }, app)],
];

describe.each(ordered)('a rejection that is ordered %s', (_how, reject) => {
	it('for credits states what remains and what is required, which is more', () => {
		expect(messageOf(reject('insufficient_credits'))).toBe(
			'Insufficient credits: 7 remaining, 8 required.',
		);
		sandbox.service.accounts.setCredits('main', 3);
		expect(messageOf(reject('insufficient_credits'))).toBe(
			'Insufficient credits: 3 remaining, 8 required.',
		);
	});

	it('for concurrency states how many are running and how many the plan allows', () => {
		expect(messageOf(reject('CONCURRENCY_LIMIT_REACHED'))).toContain(
			'10 generations are running and your plan allows 10 at a time.',
		);
		sandbox.service.occupy('main', 12);
		expect(messageOf(reject('CONCURRENCY_LIMIT_REACHED'))).toContain('12 generations are running');
	});

	it('for the daily limit states the usage so far and the need, which exceed it', () => {
		expect(messageOf(reject('CONNECTION_LIMIT_REACHED'))).toBe(
			'Daily credit limit reached: 493 of 500 credits used in the last 24 hours, this generation needs 8.',
		);
	});
});

describe('a rejection that is ordered as a fault', () => {
	const fault = (code: ErrorName, message?: string) =>
		sandbox.service.faults.order({ on: 'any', action: { kind: 'error', code, message } });

	it('has the message of the order if there is one', () => {
		fault('insufficient_credits', 'Nothing left.');
		expect(messageOf(sandbox.image())).toBe('Nothing left.');
	});

	it('states the price of a video', () => {
		fault('insufficient_credits');
		expect(messageOf(sandbox.video())).toBe('Insufficient credits: 39 remaining, 40 required.');
	});

	it.each<[string, () => { status: number; body: unknown }]>([
		['has no valid body', () => sandbox.image({ size: 'large' })],
		['has no key', () => sandbox.send('POST', '/v1/images/generations', '{}', null)],
		['creates nothing', () => sandbox.send('GET', '/v1/models')],
		['comes from a key, which has no daily limit', () => sandbox.image()],
	])('states numbers also for a request that %s', (_what, send) => {
		for (const [code, numbers] of [
			['insufficient_credits', /\d+ remaining, \d+ required/],
			['CONCURRENCY_LIMIT_REACHED', /\d+ generations are running and your plan allows \d+/],
			['CONNECTION_LIMIT_REACHED', /\d+ of \d+ credits used .* needs \d+/],
		] as const) {
			fault(code);
			expect(messageOf(send())).toMatch(numbers);
		}
	});
});
