import fc from 'fast-check';

import { CancelledError } from '../../client/api/errors';
import { toResult } from '../../client/async';
import type { SlotPool } from '../../client/orders/slot-pool';
import type { ServiceResponse } from '../../client/ports';
import { errorAnswer as refused } from '../../sandbox/basics/errors';
import { anySchedule } from './simulation/arbitrary';
import { play } from './simulation/play';
import {
	answering,
	believing,
	checking,
	creating,
	disregarding,
	findBroken,
	handing,
	naming,
	storing,
	type Saboteur,
} from './simulation/sabotage';
import type { Schedule } from './simulation/schedule';

/**
 * Proves that `npm run proof` sees what it promises to see. Each saboteur breaks one port of the
 * simulated step, such as the request or the store of the execution. The schedules must then find the promise broken
 * that depends on it, and keep it without the saboteur.
 */
const SCHEDULES = 2_500;

const TWICE = /pays for #\d+ besides #\d+/;
const UNSAID = /the lost #\d+ is mentioned nowhere/;
const isForeign = ({ status, body }: ServiceResponse) =>
	status >= 500 && !(body as { error?: { param?: unknown } }).error;

const saboteurs: Array<Saboteur<Schedule>> = [
	[
		'a request is sent twice',
		TWICE,
		creating(async (send) => {
			await send();
			return await send();
		}),
	],
	[
		'a request without an answer is sent again',
		TWICE,
		creating(async (send) => await send().catch(send)),
	],
	['a broken connection is believed to have sent nothing', UNSAID, believing('ECONNRESET')],
	[
		'the answer of a gateway is believed to be the service’s own',
		UNSAID,
		answering((response) => (isForeign(response) ? refused('server_error') : response)),
	],
	[
		'an answer that cannot be read is believed to be a rejection',
		UNSAID,
		answering((response) => {
			const { id } = (response.body ?? {}) as { id?: string };
			return response.status < 300 && id === undefined ? refused('invalid_parameter') : response;
		}),
	],
	[
		'a lost answer is believed to mean that there is no such model',
		TWICE,
		creating(async (send) => await send().catch(() => refused('model_not_found'))),
	],
	[
		'a stop is believed to have sent nothing',
		/the lost #\d+ is mentioned nowhere|paid #\d+ is missing/,
		creating(async (send, _, { signal }) => {
			const sent = await send().catch((error: unknown) => {
				throw signal.aborted ? new CancelledError() : error;
			});
			if (signal.aborted) throw new CancelledError();
			return sent;
		}),
	],
	[
		'a rejected API key is believed to be a lost answer',
		/it says that nobody knows, but everything is known/,
		answering((response) => (response.status === 401 ? { status: 500, body: '' } : response)),
	],
	[
		'a rejection for all items is believed to concern one',
		/is sent although it will be refused, too/,
		answering((response) =>
			[401, 402, 403].includes(response.status) ? refused('invalid_parameter') : response,
		),
	],
	[
		'a full account is believed to be an error',
		/it failed in calm weather/,
		answering((response) => (response.status === 429 ? refused('invalid_parameter') : response)),
	],
	[
		'the time that a rejection names is lost',
		/ms before the service has asked/,
		answering((response) => ({ ...response, headers: {} })),
	],
	[
		'the time that a status check names is lost',
		/ms before the service has asked/,
		({ send }) => ({
			send: async (request, signal) => {
				const response = await send(request, signal);
				return request.method === 'POST' ? response : { ...response, headers: {} };
			},
		}),
	],
	[
		'each try of an order has another name',
		/An order of \d+ has got another name/,
		naming((name) => `${name}-${Math.random()}`),
	],
	[
		'the orders of all items have one name',
		/Orders of \d+ and \d+ have the same name/,
		naming(() => 'order'),
	],
	[
		'a generation that runs is reported as failed',
		/pays for #\d+ besides #\d+|paid #\d+ is missing/,
		checking((status) => (status === 'processing' ? { status: 'failed' } : {})),
	],
	[
		'a refund that was not made is believed',
		/it says that nothing is spent, but #\d+ is/,
		checking((status) => (status === 'Timed Out' ? { status: 'failed' } : {})),
	],
	[
		'a generation that failed is reported as completed',
		/it was not paid for/,
		checking((status) =>
			status === 'failed' ? { status: 'completed', url: 'https://files.example/1' } : {},
		),
	],
	[
		'a generation that runs is reported as completed',
		/it has not ended yet/,
		checking((status) =>
			status === 'processing' ? { status: 'completed', url: 'https://files.example/1' } : {},
		),
	],
	['the execution’s store is lost on retry', /pays for #\d+ besides #\d+/, () => ({ stored: {} })],
	[
		'the execution’s store forgets the requests without an answer',
		/pays for #\d+ besides #\d+|the lost #\d+ is mentioned nowhere/,
		storing((orders) => orders.filter(({ id }) => id !== undefined)),
	],
	[
		'the execution’s store loses ids',
		/paid #\d+ is missing/,
		storing((orders) => orders.map((order) => ({ ...order, id: undefined }))),
	],
	[
		'the execution’s store does not find an order again',
		TWICE,
		storing((orders) =>
			orders.map((order) => ({ ...order, request: `${order.request}?`, recipe: '' })),
		),
	],
	[
		'all items share one order',
		/its outcome is about another generation/,
		disregarding({}, { itemIndex: 0, outputIndex: 0 }),
	],
	[
		'the step learns of a stop too late',
		/sent after the stop/,
		({ signal, clock }) => {
			const late = new AbortController();
			signal.addEventListener('abort', () => void clock.sleep(5_000).then(() => late.abort()));
			return { signal: late.signal };
		},
	],
	[
		'whoever waits for a slot does not learn of a stop',
		/The step went on for \d+ ms after the stop/,
		({ slots, clock }) => ({
			slots: Object.assign(Object.create(slots) as SlotPool, {
				acquire: async (...args: Parameters<SlotPool['acquire']>) => {
					const acquired = await toResult(async () => await slots.acquire(...args));
					if (acquired.ok) return acquired.value;
					if (acquired.error instanceof CancelledError) await clock.sleep(60_000);
					throw acquired.error;
				},
			}),
		}),
	],
	[
		'a lost answer is sent again although the user did not ask for it',
		TWICE,
		disregarding({}, { onUncertainCharge: 'resubmit' }),
	],
	[
		'a failed generation is created again without end',
		/generations in one try, \d+ allowed/,
		disregarding({}, { retriesOnFailure: 99 }),
	],
	[
		'the limit of new generations is not obeyed',
		/generations in one try, \d+ allowed/,
		disregarding({ maxNewGenerations: null }),
	],
	[
		'the minimum balance is not obeyed',
		/is sent although too few credits are left/,
		disregarding({ minimumBalance: null }),
	],
	[
		'the limit of credits is not obeyed',
		/is sent although too few credits are left/,
		disregarding({ maxCredits: null }),
	],
	[
		'the first error does not end the step',
		/is sent although the step has failed/,
		disregarding({ stopOnError: false }),
	],
	[
		'more items run at once than the user allows',
		/in flight, \d+ allowed/,
		disregarding({ maxConcurrent: 99 }),
	],
	[
		'the status is checked more often than the user allows',
		/is checked again after \d+ ms/,
		disregarding({ pollIntervalMs: 500 }),
	],
	[
		'what has timed out is handed on',
		/handed on after its timeout/,
		disregarding({}, { onTimeout: 'continue' }),
	],
	[
		'an item is waited for beyond its timeout',
		/is looked at \d+ ms after its timeout/,
		disregarding({}, { timeoutMs: 7_200_000 }),
	],
	[
		'an error does not name its generation',
		/paid #\d+ is missing in it/,
		handing((one) =>
			one.kind === 'error' ? { ...one, error: one.error.with({ generation: null }) } : one,
		),
	],
];

const schedules = fc.sample(anySchedule, { seed: 20_260_101, numRuns: SCHEDULES });

it.each(saboteurs)('the proof finds that %s', async (...saboteur) => {
	const { broken, schedule, others } = await findBroken(schedules, saboteur, play);
	expect(broken ?? [...others]).toMatch(saboteur[1]);
	await play(schedule as Schedule);
});
