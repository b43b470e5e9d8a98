import type { INodeExecutionData, INodeParameters, IWorkflowBase } from 'n8n-workflow';

import type { Made } from '../../support/fake-service';
import { ownType } from '../../support/workflow';
import type { SleepSchedule } from './schedule';

/** The prompt of an item, which tells the service its fate. */
export function promptOf({ items }: SleepSchedule, index: number): string {
	return `${items[index]} ${index}`;
}

/**
 * The user's workflow: a trigger, and the step.
 *
 * @param sleeps false for a step that polls, and does not end with an error
 */
export function workflowOf(schedule: SleepSchedule, id: string, sleeps = true): IWorkflowBase {
	const { node, stopOnError, retryOnFail } = schedule;
	const creates = node === 'create';
	const step = {
		id: 'the-node',
		name: 'Step',
		type: ownType(creates ? 'imageGeneration' : 'waitForCompletion'),
		parameters: creates ? creating(schedule, sleeps) : waiting(schedule, sleeps),
		onError: sleeps && stopOnError ? 'stopWorkflow' : 'continueRegularOutput',
		...(sleeps && { retryOnFail }),
	};
	const start = { id: 'start', name: 'Start', type: 'n8n-nodes-base.manualTrigger' };
	const usual = { typeVersion: 1, position: [0, 0], parameters: {} };
	return {
		id,
		name: 'Workflow',
		nodes: [start, step].map((one) => ({ ...usual, ...one })),
		...(!schedule.keeps && { settings: { saveDataSuccessExecution: 'none' } }),
		connections: { Start: { main: [[{ node: 'Step', type: 'main', index: 0 }]] } },
	} as unknown as IWorkflowBase;
}

function creating(schedule: SleepSchedule, sleeps: boolean): INodeParameters {
	const { limit, readiness, onUncertainCharge, retriesOnFailure, maxNewGenerations } = schedule;
	return {
		model: { __rl: true, mode: 'id', value: 'aurora-image-1' },
		prompt: '={{ $json.prompt }}',
		downloadOutput: false,
		options: { idempotencyKey: '={{ $json.key }}', includeOtherFields: schedule.hasFiles },
		runOptions: {
			maxConcurrent: limit,
			pollInterval: 10,
			readiness,
			timeout: 3600,
			retriesOnFailure,
			...(sleeps && {
				whileWaiting: 'suspend',
				onUncertainCharge,
				...(maxNewGenerations !== null && { maxNewGenerations }),
			}),
		},
	};
}

function waiting({ hasFiles, readiness }: SleepSchedule, sleeps: boolean): INodeParameters {
	return {
		generationId: '={{ $json.id }}',
		mode: sleeps ? 'suspend' : 'poll',
		downloadOutput: false,
		options: { includeOtherFields: hasFiles },
		runOptions: { readiness, timeout: 3600, pollInterval: 10 },
	};
}

/**
 * The input items of the step.
 *
 * @param made the generations to wait for
 */
export function itemsOf(schedule: SleepSchedule, made: Made[]): INodeExecutionData[] {
	const binary = { data: { mimeType: 'image/png', data: 'AAAA' } };
	return schedule.items.map((_, index) => {
		const prompt = promptOf(schedule, index);
		const id = made.find((one) => one.prompt === prompt)?.id;
		const json = { prompt, key: `k${index}`, ...(schedule.node === 'wait' && { id }) };
		return { json, ...(schedule.hasFiles && { binary }) };
	});
}
