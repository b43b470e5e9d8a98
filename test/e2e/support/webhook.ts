import type { Execution } from '../../../tools/n8n/executions';
import type { Stage } from './stage';
import { until } from './until';
import { byWebhook } from './workflows';
import type { OwnNode } from './workflows';

/** A workflow that another system calls with a list of prompts. */
export class Webhook {
	private constructor(
		private readonly stage: Stage,
		private readonly path: string,
		readonly workflowId: string,
	) {}

	/** Saves and publishes it. */
	static async open(stage: Stage, path: string, ...nodes: OwnNode[]): Promise<Webhook> {
		const { id, versionId } = await stage.save(byWebhook(path, path, ...nodes));
		await stage.rest.send('POST', `/workflows/${id}/activate`, { versionId });
		const webhook = new Webhook(stage, path, id);
		await webhook.listens();
		return webhook;
	}

	/** n8n answers before its webhooks listen; a request of another kind is none to them. */
	async listens(): Promise<void> {
		const says = 'make a POST request';
		const check = async () => (await (await fetch(this.url)).text()).includes(says);
		await until('the webhook listens', check, 60_000);
	}

	/** Calls it, and does not wait for the execution to begin. @throws where n8n does not take it */
	async post(prompt: string[]): Promise<void> {
		const { status } = await fetch(this.url, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ prompt }),
			signal: AbortSignal.timeout(30_000),
		});
		if (status !== 200) throw new Error(`Answered ${status}`);
	}

	/** Calls it so many times at once. @returns the ids of the executions */
	async call(prompt: string[], times = 1): Promise<string[]> {
		const before = await this.executions();
		await Promise.all(Array.from({ length: times }, async () => await this.post(prompt)));
		let fresh: string[] = [];
		await until('the executions begin', async () => {
			fresh = (await this.executions()).filter((id) => !before.includes(id));
			return fresh.length === times;
		});
		return fresh;
	}

	/** What a call comes to. */
	async run(prompt: string[]): Promise<Execution> {
		const [id] = await this.call(prompt);
		return await this.stage.executions.ended(id, 240_000);
	}

	/** Those that were called for: what they start themselves has the same workflow. */
	private async executions(): Promise<string[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId: this.workflowId }));
		const { results } = await this.stage.rest.send<{
			results: Array<{ id: string; mode: string }>;
		}>('GET', `/executions?filter=${filter}&limit=100`);
		return results.filter(({ mode }) => mode === 'webhook').map(({ id }) => id);
	}

	private get url(): string {
		return `${this.stage.n8n.url}/webhook/${this.path}`;
	}
}
