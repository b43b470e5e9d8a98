import { http } from '../../../tools/http';
import type { Execution } from '../../../tools/n8n/executions';
import type { Stage } from './stage';
import { until } from './until';
import { byWebhook } from './workflows';
import type { Answer, Step } from './workflows';

/** A workflow that another system calls with a list of prompts. */
export class Webhook {
	private constructor(
		private readonly stage: Stage,
		private readonly path: string,
	) {}

	/** Saves and publishes the workflow. */
	static async open(stage: Stage, path: string, nodes: Step[], answer?: Answer): Promise<Webhook> {
		const { id, versionId } = await stage.save(byWebhook(path, nodes, answer));
		await stage.rest.send('POST', `/workflows/${id}/activate`, { versionId });
		const webhook = new Webhook(stage, path);
		await webhook.listens();
		return webhook;
	}

	/** Waits until the webhook listens. n8n responds earlier than that; a GET request does not trigger the webhook. */
	async listens(): Promise<void> {
		const says = 'make a POST request';
		const check = async () => JSON.stringify((await http.get(this.url)).data).includes(says);
		await until('the webhook listens', check);
	}

	/**
	 * Calls the webhook.
	 *
	 * @returns n8n's response
	 * @throws if the call fails or takes too long
	 */
	async post(prompt: string[], timeoutMs = 120_000): Promise<unknown> {
		const config = { signal: AbortSignal.timeout(timeoutMs) };
		const { status, data } = await http.post<unknown>(this.url, { prompt }, config);
		if (status !== 200) throw new Error(`Answered ${status}`);
		return data;
	}

	/**
	 * Calls the webhook without waiting for the execution to begin.
	 *
	 * @returns the ID of the execution
	 */
	async call(prompt: string[]): Promise<string> {
		return String(await this.post(prompt));
	}

	/** Calls the webhook, and returns the ended execution. It may first wait minutes for one that was killed. */
	async run(prompt: string[]): Promise<Execution> {
		return await this.stage.executions.ended(await this.call(prompt));
	}

	private get url(): string {
		return `${this.stage.n8n.url}/webhook/${this.path}`;
	}
}
