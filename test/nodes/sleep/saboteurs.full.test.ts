import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { playAsleep } from './play';
import { adding, running, setting, table, type Sabotage } from './sabotage';
import { calm, sleepSchedule, type SleepSchedule } from './schedule';

/**
 * Proves that the proof of `sleep.property.full.test.ts` sees what it promises to see. Each saboteur breaks the simulated n8n or
 * the service, so that a promise does not hold. The schedules must find that, and keep the promise without the saboteur.
 */
const SCHEDULES = 120;

type Saboteur = [name: string, breaks: RegExp, sabotage: Sabotage, when?: Partial<SleepSchedule>];

const { deaths, stop, deletesRowsAfterMs, updatesAfterMs, outage, tables } = calm;
const undisturbed: Partial<SleepSchedule> = {
	...{ deaths, stop, deletesRowsAfterMs, updatesAfterMs, outage, tables },
};
const creates: Partial<SleepSchedule> = { ...undisturbed, node: 'create' };
const stopped: Partial<SleepSchedule> = {
	...creates,
	stop: { afterMs: 30_000, depth: 0 },
	limit: 1,
};

const saboteurs: Saboteur[] = [
	[
		'each creating request is sent twice',
		/is charged twice/,
		adding((request) => (request.method === 'POST' ? request : null)),
		{ ...creates, items: ['made', 'made'], limit: 3 },
	],
	[
		'a status check creates a generation',
		/a wait creates a generation/,
		adding(({ method }) =>
			method === 'GET' ? { method: 'POST', path: '/v1/images', body: { prompt: 'made 0' } } : null,
		),
		{ ...undisturbed, node: 'wait' },
	],
	[
		'the table hides what has been completed',
		/is charged twice/,
		table((operation, output, input) => {
			if (operation === 'rowNotExists') return input;
			return output.filter(({ json }) => json.status !== 'completed');
		}),
		creates,
	],
	[
		'the report of the waves is dropped',
		/it ended (as|early)|does not end/,
		running(async (run, { depth }, context) => {
			const output = await run();
			const isLast = context.getNode().name === 'Report';
			return depth === 2 && isLast ? [[{ json: { error: 'lost' } }]] : output;
		}),
		creates,
	],
	[
		'the guard and the waves begin anew whenever they wake',
		/it ended (as|early)|ended with (batch|wait)_interrupted|does not end/,
		running(async (run, { depth }, context) => {
			if (depth === 1 || depth === 2) Object.assign(context, { getContext: () => ({}) });
			return await run();
		}),
		undisturbed,
	],
	[
		'a batch that was stopped seems to sleep on',
		/a request is sent after the stop/,
		({ n8n }) => {
			n8n.stop = (record) => {
				record.status = 'canceled';
				record.waitTill = null;
			};
		},
		stopped,
	],
	[
		'the results come in another order',
		/has the generation of another one/,
		running(async (run, { depth }) => {
			const [items = [], ...others] = await run();
			return depth === 3 && items.length > 1
				? [[...items].reverse(), ...others]
				: [items, ...others];
		}),
		undisturbed,
	],
	[
		'an item of the results is left out',
		/\d output items/,
		running(async (run, { depth }) => {
			const [items = [], ...others] = await run();
			return depth === 3 && items.length > 1 ? [items.slice(1), ...others] : [items, ...others];
		}),
		undisturbed,
	],
	[
		'the limit of new generations is not obeyed',
		/generations, although there is a limit/,
		setting((node) => {
			const runOptions = { ...(node.parameters.runOptions as INodeParameters) };
			delete runOptions.maxNewGenerations;
			return { ...node, parameters: { ...node.parameters, runOptions } };
		}),
		creates,
	],
	[
		'a failed generation is created again without end',
		/is created again \d+ times/,
		setting((node) => {
			const { runOptions } = node.parameters;
			const more = { ...(runOptions as INodeParameters), retriesOnFailure: 5 };
			return runOptions ? { ...node, parameters: { ...node.parameters, runOptions: more } } : node;
		}),
		{ ...creates, retriesOnFailure: 0, maxNewGenerations: null, retryOnFail: false },
	],
	[
		'another release reads the state as its own',
		/a state of another release is read|another release has stored the state/,
		(world) => {
			const { n8n } = world;
			const kill = n8n.kill.bind(n8n);
			n8n.kill = (restart) => {
				kill(restart);
				for (const record of n8n.records.values()) {
					record.data = record.data.replace(/"v":(\d+)/g, (_, v: string) => `"v":${Number(v) + 1}`);
				}
			};
		},
		{ ...undisturbed, updatesAfterMs: 20_000 },
	],
];

const schedules = fc.sample(sleepSchedule, { seed: 20_260_101, numRuns: SCHEDULES });

it.each(saboteurs)('the proof finds that %s', async (_, breaks, sabotage, when) => {
	const others = new Set<string>();
	for (const drawn of schedules) {
		const schedule = { ...drawn, ...when };
		const error = await playAsleep(schedule, sabotage).then(
			() => null,
			(thrown: Error) => thrown,
		);
		const [violation = ''] = error?.message.split('\n') ?? [];
		if (breaks.test(violation)) return void (await playAsleep(schedule));
		if (error) others.add(violation);
	}
	throw new Error(`No schedule has found it. Others: ${[...others].join('; ')}`);
});
