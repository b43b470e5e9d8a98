import fc from 'fast-check';

import type { ServiceRequest } from '../../../client/ports';
import { playAsleep, type Sabotage } from './play';
import { calm, sleepSchedule, type SleepSchedule } from './schedule';

/**
 * Proves that the proof of `sleep.property.full.test.ts` sees what it promises to see. Each saboteur breaks the simulated n8n or
 * the service, so that a promise does not hold. The schedules must find that, and keep the promise without the saboteur.
 */
const SCHEDULES = 120;

type Saboteur = [name: string, breaks: RegExp, sabotage: Sabotage, when?: Partial<SleepSchedule>];

const { deaths, stop, outage, tables } = calm;
const creates: Partial<SleepSchedule> = { deaths, stop, outage, tables, node: 'create' };

const saboteurs: Saboteur[] = [
	[
		'each creating request is sent twice',
		/is charged twice/,
		({ service }) => {
			const { send } = service;
			const twice = async (request: ServiceRequest) => {
				if (request.method === 'POST') await send(request).catch(() => undefined);
				return await send(request);
			};
			Object.assign(service, { send: twice });
		},
		{ ...creates, items: ['made', 'made'], limit: 3 },
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
		{ ...creates, stop: { afterMs: 30_000, depth: 0 }, limit: 1 },
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
