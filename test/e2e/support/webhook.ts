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

	/** Saves and publishes it. */
	static async open(stage: Stage, path: string, nodes: Step[], answer?: Answer): Promise<Webhook> {
		const { id, versionId } = await stage.save(byWebhook(path, nodes, answer));
		await stage.rest.send('POST', `/workflows/${id}/activate`, { versionId });
		const webhook = new Webhook(stage, path);
		await webhook.listens();
		return webhook;
	}

	/** n8n answers before its webhooks listen; a request of another kind is none to them. */
	async listens(): Promise<void> {
		const says = 'make a POST request';
		const check = async () => JSON.stringify((await http.get(this.url)).data).includes(says);
		await until('the webhook listens', check, 60_000);
	}

	/**
	 * Calls it.
	 *
	 * @returns what n8n answers
	 * @throws where that is no success, or takes too long
	 */
	async post(prompt: string[], timeoutMs = 30_000): Promise<unknown> {
		const config = { signal: AbortSignal.timeout(timeoutMs) };
		const { status, data } = await http.post<unknown>(this.url, { prompt }, config);
		if (status !== 200) throw new Error(`Answered ${status}`);
		return data;
	}

	/**
	 * Calls it, and does not wait for the execution to begin.
	 *
	 * @returns its id
	 */
	async call(prompt: string[]): Promise<string> {
		return String(await this.post(prompt));
	}

	/** What a call comes to. */
	async run(prompt: string[]): Promise<Execution> {
		return await this.stage.executions.ended(await this.call(prompt), 240_000);
	}

	private get url(): string {
		return `${this.stage.n8n.url}/webhook/${this.path}`;
	}
}
