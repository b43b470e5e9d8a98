import fc from 'fast-check';

import type { StoredOrders } from '../../client/orders/journal';
import type { Row } from '../../client/jobs/row';
import { asSeen, hasId, SENT, UNCERTAIN, UnansweredError } from '../../client/orders/table';
import { playKeyed } from './simulation/keyed';
import { calm, keyedSchedule, type KeyedSchedule } from './simulation/keyed-schedule';
import {
	answering,
	believing,
	changing,
	creating,
	findBroken,
	handing,
	naming,
	reading,
	telling,
	type Saboteur,
} from './simulation/sabotage';

/** Does for schedules with keys what `saboteurs.full.test.ts` does for steps without keys: the table lies as well. */
const SCHEDULES = 200;

const isOpen = (row: Row) => !hasId(row) && row.status !== 'failed';
const IS_PAID_TWICE = /Key \d+ is paid besides/;
const IS_CALLED_UNCERTAIN =
	/uncertain_charge|called uncertain, but everything is known|called uncertain, although it is on record/;

/** A writer has died, and executions that may send again want to take over its row. */
const takenOver: Partial<KeyedSchedule> = {
	keys: [0],
	tableMs: 400,
	tableFails: 0,
	lost: 0,
	answerMs: 3_000,
	concurrency: 5,
	edits: [],
	executions: [
		{ ...calm, diesAfterMs: 750 },
		...[1, 2, 3, 4, 5, 6, 7, 8].map(() => ({
			...calm,
			startMs: 5_000,
			onUncertainCharge: 'resubmit' as const,
		})),
	],
};

const saboteursOfKeys: Array<Saboteur<KeyedSchedule>> = [
	[
		'a request is sent twice',
		IS_PAID_TWICE,
		creating(async (send) => {
			await send();
			return await send();
		}),
	],
	[
		'a lost answer is believed to mean that nothing was made',
		IS_PAID_TWICE,
		believing('ECONNRESET'),
	],
	[
		'a rejection is believed to be a lost answer',
		IS_CALLED_UNCERTAIN,
		answering((response) => (response.status === 503 ? { status: 503, body: '' } : response)),
	],
	[
		'each try of an order has another name',
		/An order of \d+ has got another name/,
		naming((name) => `${name}-${Math.random()}`),
	],
	[
		'a compare-and-set always hits',
		IS_PAID_TWICE,
		changing((one) => {
			const { match, conditions } = one.where;
			const isCompared = match === 'all' && conditions[0][0] === 'id';
			return isCompared ? { ...one, where: { match, conditions: [conditions[0]] } } : one;
		}),
		takenOver,
	],
	[
		'the step never learns of a stop',
		/Something is sent after the stop/,
		() => ({ signal: new AbortController().signal }),
	],
	[
		'a row is forgotten after its execution',
		IS_PAID_TWICE,
		({ table }) => {
			const own = new Set<string>();
			return {
				table: async (call) => {
					call.inserts.forEach(({ writer }) => own.add(writer));
					return (await table(call)).filter(({ writer }) => own.has(writer));
				},
			};
		},
	],
	[
		'a row says that its generation has failed',
		IS_PAID_TWICE,
		reading((row) => (hasId(row) ? { ...row, status: 'failed' } : row)),
	],
	['an id is not written', IS_CALLED_UNCERTAIN, telling((call) => ({ ...call, made: [] }))],
	[
		'an id is written into two rows',
		/a generation has two rows/,
		({ table }) => ({
			table: async (call) => {
				const rows = await table(call);
				const inserts = call.made.map((row) => ({ ...row, writer: 'somebody' }));
				if (inserts.length > 0) await table({ changes: [], inserts, made: [], keys: [] });
				return rows;
			},
		}),
	],
	[
		'a live writer is believed dead',
		IS_PAID_TWICE,
		({ table }) => {
			const own = new Set<string>();
			return {
				table: async (call) => {
					const rows = await table(call);
					for (const { writer } of [
						...call.inserts,
						...call.changes.map(({ set }) => set ?? { writer: '' }),
					]) {
						if (writer) own.add(writer);
					}
					const others = rows.filter(
						(row) => isOpen(row) && row.status === SENT && !own.has(row.writer),
					);
					if (others.length === 0) return rows;
					const set = { status: UNCERTAIN };
					const changes = others.map((row) => ({ where: asSeen(row), set }));
					return await table({ ...call, changes, inserts: [], made: [] });
				},
			};
		},
	],
	[
		'a dead writer is believed alive',
		/record_unavailable/,
		reading((row, { clock }) =>
			isOpen(row) ? { ...row, status: 'sent', changedAt: clock.now() } : row,
		),
	],
	[
		'a clock does not notice that its process was paused',
		IS_PAID_TWICE,
		({ clock }) => {
			let [lastMs, offMs] = [clock.now(), 0];
			return {
				clock: {
					...clock,
					now: () => {
						offMs += Math.max(0, clock.now() - lastMs - 10_000);
						lastMs = clock.now();
						return lastMs - offMs;
					},
				},
			};
		},
		{
			keys: [0],
			tableFails: 0,
			edits: [],
			sleep: null,
			executions: [
				{ ...calm, pause: { afterMs: null, ms: 150_000 } },
				{ ...calm, startMs: 5_000, onUncertainCharge: 'resubmit' },
			],
		},
	],
	[
		'a compare-and-set never hits',
		/record_unavailable/,
		changing((one) => (one.where.conditions.length === 4 ? null : one)),
	],
	[
		'a row is confirmed before it is written',
		IS_PAID_TWICE,
		({ table, clock }) => ({
			table: async (call) => {
				if (call.inserts.length === 0) return await table(call);
				void clock.sleep(3_000).then(async () => await table(call).catch(() => null));
				return call.inserts.map((row, id) => ({ ...row, id: id + 1_000, changedAt: clock.now() }));
			},
		}),
	],
	[
		'a read does not see what others write at the same time',
		IS_PAID_TWICE,
		({ table }) => ({
			table: async (call) => {
				const { keys } = call;
				const old = await table({ changes: [], inserts: [], made: [], keys });
				const seen = new Set(old.map(({ id }) => id));
				const own = new Set(call.inserts.map(({ writer }) => writer));
				const rows = await table(call);
				return rows.filter(({ id, writer }) => seen.has(id) || own.has(writer));
			},
		}),
	],
	[
		'rows are not deleted',
		/a row without a generation is left over|leaves key \d+ as sent/,
		changing((one) => (one.set === null ? null : one)),
	],
	[
		'rows that may have been charged are deleted',
		IS_PAID_TWICE,
		changing((one) => (one.set?.status === UNCERTAIN ? { ...one, set: null } : one)),
	],
	[
		'nothing is written after the end of the execution',
		IS_CALLED_UNCERTAIN,
		({ table, signal }) => ({
			table: async (call) => {
				if (signal.aborted) throw new UnansweredError();
				return await table(call);
			},
		}),
	],
	['items without a key are forgotten on retry', IS_PAID_TWICE, () => ({ stored: {} })],
	[
		'the calls of an execution do not share what it stores',
		IS_PAID_TWICE,
		({ stored }) => ({ stored: structuredClone(stored) as StoredOrders }),
	],
	[
		'an outcome forgets its generation',
		/what it paid for is lost/,
		handing((one) =>
			one.kind === 'error' ? { ...one, error: one.error.with({ generation: null }) } : one,
		),
	],
];

const schedules = fc.sample(keyedSchedule, { seed: 20_260_101, numRuns: SCHEDULES });

it.each(saboteursOfKeys)('the proof finds that %s', async (...saboteur) => {
	const { broken, schedule, others } = await findBroken(schedules, saboteur, playKeyed);
	expect(broken ?? [...others]).toMatch(saboteur[1]);
	await playKeyed(schedule as KeyedSchedule);
});
