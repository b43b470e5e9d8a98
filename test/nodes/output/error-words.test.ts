import {
	errorOfJob,
	errorOfEnd,
	failedGeneration,
	heldTooLong,
	notSent,
	timedOutGeneration,
	type Outcome,
} from '../../../client/jobs/outcome';
import { TABLE_COLUMNS, type RowFields, type Row } from '../../../client/jobs/row';
import {
	explainedByRow,
	recordUnavailable,
	uncertainCharge,
} from '../../../client/orders/order-errors';
import { errorFromConnection } from '../../../client/api/connection';
import { balanceBelow } from '../../../client/api/client';
import { errorFromResponse, GenerationError, unreadableAnswer } from '../../../client/api/errors';
import { readGeneration, type Generation } from '../../../client/api/generation';
import { serviceAddress, unreadableCredential } from '../../../nodes/shared/http/credential';
import {
	errorFromDownload,
	badOutput,
	downloadError,
	textInstead,
} from '../../../nodes/shared/http/download-errors';
import { nodeError, stepError } from '../../../nodes/shared/output/node-error';
import { outputItems } from '../../../nodes/shared/output/results';
import { networkError, refusal, wireGeneration } from '../../support/answers';
import { contextOf } from '../../support/context';
import { endsOf } from '../../support/ends';
import { storedOrders } from '../../support/stored-orders';

/** Every error as n8n shows it, and the rules that all of them must follow. */

const ID = '8706c4eb-fb26-47fd-a7e7-9d2b47f66630';
const HTML = '<b>Broken</b> & <script>alert(1)</script>';

function generation(status: string, error?: unknown): Generation {
	return readGeneration(wireGeneration({ id: ID, status, error }), 0) as Generation;
}

function thrownBy(check: () => unknown): GenerationError {
	try {
		check();
	} catch (error) {
		if (error instanceof GenerationError) return error;
		throw error;
	}
	throw new Error('Nothing was thrown');
}

/** The codes of spec 7 and an unknown one, with their statuses. */
const REFUSALS = [
	['invalid_request', 400],
	['invalid_parameter', 400],
	['authentication_error', 401],
	['invalid_api_key', 401],
	['expired_api_key', 401],
	['insufficient_credits', 402],
	['insufficient_credits', 403],
	['forbidden', 403],
	['CONNECTION_PAUSED', 403],
	['model_not_found', 404],
	['generation_not_found', 404],
	['generation_in_progress', 409],
	['payload_too_large', 413],
	['unsupported_parameter', 422],
	['CONCURRENCY_LIMIT_REACHED', 429],
	['CONNECTION_LIMIT_REACHED', 429],
	['server_error', 500],
	['model_unavailable', 502],
	['service_unavailable', 503],
	...[301, 400, 401, 402, 403, 404, 429, 500, 504].map((status) => ['brand_new', status] as const),
] as const;

const refused = REFUSALS.flatMap(([code, status]) => [
	errorFromResponse(refusal(status, code, HTML, 'prompt'), false),
	errorFromResponse({ status, body: '<html>' }, false),
]);

const refusedAs = (name: string) => refused.find(({ code }) => code === name);

const { item } = generation('processing');
const paid = new GenerationError({
	title: 'The generation does not exist',
	description: 'Check the generation id.',
	code: 'generation_not_found',
	charge: 'paid',
	generation: { id: ID },
});
const columns = Object.fromEntries(TABLE_COLUMNS.map((name) => [name, HTML])) as RowFields;
const row: Row = { ...columns, generation_id: ID, id: 7, changedAt: 0 };

const ERRORS: GenerationError[] = [
	...refused,
	...refused.map((error) => notSent(error, { itemIndex: 3, itemCount: 5 })),
	...refused.map((error) => errorOfJob(error, item)),
	...refused.map((error) => errorOfJob(error, { id: ID })),
	uncertainCharge(null),
	uncertainCharge(null, { count: 3 }),
	uncertainCharge(errorFromResponse({ status: 502, body: '' }, true)),
	uncertainCharge(unreadableAnswer({ status: 200, body: '' }, true)),
	unreadableAnswer({ status: 200, body: '' }, false),
	unreadableCredential(new Error(HTML)),
	errorFromConnection(networkError('ECONNREFUSED', 'connect'), true),
	thrownBy(() => serviceAddress('https://user:password@api.example.com')),
	errorFromConnection(networkError('ENOTFOUND', 'getaddrinfo'), true),
	errorFromConnection(networkError('ECONNRESET', 'read'), false),
	...['cancelled', 'completed'].flatMap((status) =>
		[undefined, { message: HTML }].map((error) => {
			const ended = generation(status, error);
			const item = { ...ended.item, url: null };
			return errorOfEnd({ ...ended, item }) as GenerationError;
		}),
	),
	failedGeneration(generation('failed')),
	failedGeneration(generation('failed', { message: HTML })),
	failedGeneration(generation('failed', { message: `${HTML} `.repeat(10) })),
	timedOutGeneration(generation('processing').item, 5000, null),
	timedOutGeneration(generation('processing').item, 5000, refused[0]),
	errorOfJob(paid, null),
	balanceBelow(3, 10, 'Minimum Balance'),
	uncertainCharge(null, { count: 1, row }),
	explainedByRow(refusedAs('generation_not_found'), row) as GenerationError,
	explainedByRow(errorOfEnd(generation('cancelled')), row) as GenerationError,
	failedGeneration(generation('failed', { code: 'safety', message: 'No' })),
	heldTooLong(refused[0], 3_600_000, 60_000),
	recordUnavailable(`n8n says: ${HTML}`),
	...['ENOSPC', 'EACCES', 'CERT_HAS_EXPIRED', 'ENOTFOUND', 'ECONNREFUSED', 'ETIMEDOUT'].map(
		(code) => downloadError(errorFromDownload(networkError(code)), generation('completed')),
	),
	downloadError(errorFromDownload(new Error(HTML)), generation('completed')),
	downloadError(
		badOutput('The storage returned HTTP 403 instead of the file', 403),
		generation('completed'),
	),
	downloadError(textInstead(HTML, 200), generation('completed')),
];

function outcomesWith(error: GenerationError): Array<Outcome<never>> {
	return [
		{ kind: 'error', error },
		{ kind: 'error', error: uncertainCharge(null) },
		{ kind: 'error', error: notSent(refused[0], { itemIndex: 0, itemCount: 5 }) },
		{ kind: 'stopped', generation: null },
		{ kind: 'stopped', generation: { id: 'another', status: 'pending' } },
	];
}

const { step } = contextOf({ items: Array.from({ length: 5 }, () => ({ json: {} })) });
const kept = storedOrders({ id: 'another', status: 'pending' });
const shownAlone = ERRORS.map((error) => nodeError(step, error, 0));
const shownOfStep = ERRORS.map((error) =>
	stepError(step, error, 0, endsOf(outcomesWith(error)), kept),
);
const texts = [...shownAlone, ...shownOfStep].map(({ message, description }) => ({
	title: message,
	description: description ?? '',
}));

const CHARGES =
	/nothing was charged|charge nothing|were refunded|has been charged|may have been charged/i;

describe('every error', () => {
	it('has a title that is not too long, without HTML', () => {
		for (const { title } of texts) {
			expect(title).toMatch(/^(n8n|[A-Z\d“]).{5,239}[^.]$/);
			expect(title).not.toMatch(/[<>]|undefined|null|\[object/);
		}
	});

	it('has a description without HTML', () => {
		for (const { description } of texts) expect(description).not.toMatch(/[<>]|&(?!\w+;)/);
	});

	it('says what to do, in words of its own', () => {
		const advice =
			/\b(check|choose|change|write|fill|open|create|enter|use|top up|pass|remove|report|raise|lower|resume|wait|try|fetch|look|upload)\b/i;
		for (const { description } of texts) expect(description).toMatch(advice);
	});

	it('says whether something was charged', () => {
		for (const { title, description } of texts) {
			expect(`${title}. ${description}`).toMatch(CHARGES);
		}
	});

	it('names each generation once, at its end', () => {
		for (const { title, description } of texts) {
			const text = `${title}. ${description}`.replace(/https:\S+/g, '');
			const named = text.split(ID).length - 1;
			expect(named).toBeLessThanOrEqual(1);
		}
		for (const { description = '' } of shownOfStep) {
			expect(description).toMatch(/Charged: [^.]*another \(pending\)[^.]*\.$/);
		}
	});

	it('says the same in the item that the workflow goes on with, as it stands', () => {
		const { step: continuing } = contextOf({ continueOnFail: true });
		for (const error of ERRORS) {
			const [{ json }] = outputItems(continuing, [{ kind: 'error', error, itemIndex: 0 }]);
			const said = String(json.error);
			expect(said).toContain(error.message);
			expect(said).not.toContain('&lt;');
			expect(said).toMatch(CHARGES);
		}
	});
});
