import { newRow } from '../../../client/orders/table';
import { uncertainCharge } from '../../../client/orders/order-errors';
import { GenerationError } from '../../../client/api/errors';

describe('an uncertain charge', () => {
	it('says what happened to the request, and what to do', () => {
		const cause = new GenerationError({
			title: 'The service failed to answer',
			description: '',
			code: 'http_502',
			status: 502,
			charge: 'unknown',
			retry: 'backoff',
		});
		const error = uncertainCharge(cause);
		expect(error).toMatchObject({
			code: 'uncertain_charge',
			status: 502,
			charge: 'unknown',
			retry: 'never',
		});
		expect(error.message).toContain('may have been charged');
		expect(error.description).toMatch(/^The service failed to answer\. It was not sent again/);
		expect(error.description).toMatch(/Wait for Completion.*On Uncertain Charge to Resubmit/);
	});

	const scope = { workflowId: 'w', nodeId: 'n', executionId: 'e', writer: 'u' };
	const row = { ...newRow(scope, 'a'), id: 7, changedAt: null };

	it('names its row, for any result of the last request', () => {
		const cause = new GenerationError({ title: 'It broke', description: '', code: 'broke' });
		const entry = { count: 1, row };
		expect(uncertainCharge(cause, entry).description).toMatch(
			/^It broke\. Execution e sent key "a" \(row 7 of the data table /,
		);
		expect(uncertainCharge(null, entry).description).toMatch(/^Execution e sent key "a" \(row 7 /);
	});

	it.each(['error', 'resubmit'] as const)(
		'with a row gives only the procedure for that row, with On Uncertain Charge set to %s',
		(choice) => {
			const { description } = uncertainCharge(null, { count: 1, row }, choice);
			expect(description).toMatch(
				/look for the generation.*enter its ID in the column generation_id of row 7 of media_g/i,
			);
			expect(description).not.toMatch(/Wait for Completion|Resubmit/);
		},
	);

	it('of requests that were sent again does not claim that none was sent again', () => {
		const error = uncertainCharge(null, { count: 4 }, 'resubmit');
		expect(error.description).toMatch(/A retry sends it again.*first look.*Wait for Completion/);
		expect(error.description).not.toContain('set On Uncertain Charge');
	});

	it('of an earlier attempt says so', () => {
		const error = uncertainCharge(null);
		expect(error).toMatchObject({ status: null, charge: 'unknown' });
		expect(error.description).toMatch(
			/^The request was sent in an earlier attempt of this step\. /,
		);
	});

	it('of several requests says how many may have been charged', () => {
		expect(uncertainCharge(null, { count: 3 }).message).toMatch(
			/responses to 3 requests were lost: up to 3 may have been/,
		);
	});

	it('of a broken connection has no status', () => {
		const cause = new GenerationError({ title: 'Broke', description: '', code: 'x' });
		expect(uncertainCharge(cause).description).not.toContain('HTTP');
	});
});
