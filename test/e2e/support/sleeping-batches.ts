import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox } from '../../../sandbox/server';
import type { Stage } from './stage';
import { until } from './until';
import { byHand, imageNode, small, trigger } from './workflows';
import type { OwnNode } from './workflows';

export const minutes = 60_000;

/** Long enough for every batch to be suspended several times, in seconds of a service in real time. */
export const generationSeconds = 100;

const base = imageNode({ idempotencyKey: '={{ $json.prompt }}' });

/** Returns a step that sleeps. */
export function asleep(maxConcurrent: number): OwnNode {
	const runOptions = { whileWaiting: 'suspend', maxConcurrent };
	return { ...base, parameters: small({ ...base.parameters, runOptions }) };
}

/**
 * Waits until an execution checks the status of a generation with such a prompt. The sandbox does not respond until its
 * faults are cleared.
 */
export async function awake({ books, faults, requests }: Sandbox, promptIncludes: string) {
	// A request that hangs is not handled, so only its path names the generation.
	const promptOf = new Map(books.generations.map(({ id, prompt }) => [id, prompt]));
	const hanging = () =>
		requests.all.filter(
			({ fault, path }) =>
				fault === 'hang' && promptOf.get(path.slice(-36))?.includes(promptIncludes),
		).length;
	const before = hanging();
	const match = { promptIncludes };
	faults.order({ on: 'status', match, times: 'always', action: { kind: 'hang' } });
	await until('an execution is awake', () => hanging() > before, 8 * minutes);
	// By then, its creating requests have been answered.
	await delay(3000);
}

/** Batches that sleep in the n8n of a stage. */
export class SleepingBatches {
	constructor(private readonly stage: Stage) {}

	/** Starts a batch, and returns the ids of its execution and its workflow. */
	async begin(
		name: string,
		prompts: string[],
		...nodes: OwnNode[]
	): Promise<Record<'id' | 'workflowId', string>> {
		const workflow = await this.stage.save(byHand(name, prompts, ...nodes));
		return { id: await this.stage.executions.run(workflow, trigger), workflowId: workflow.id };
	}

	/** Returns the statuses of a workflow's executions, including its helper workflows. */
	async statusesOf(workflowId: string): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { results } = await this.stage.rest.send<{ results: Array<{ status: string }> }>(
			'GET',
			`/executions?filter=${filter}`,
		);
		return results.map(({ status }) => status);
	}

	async helpersEnded(workflowId: string): Promise<void> {
		const ended = async () =>
			!(await this.statusesOf(workflowId)).some((status) =>
				['waiting', 'running', 'new'].includes(status),
			);
		await until('its helper workflows have ended', ended, 8 * minutes);
	}

	charges(prompts: string[]): number[] {
		return prompts.map((prompt) => this.stage.sandbox.books.liveChargesFor(prompt));
	}
}
