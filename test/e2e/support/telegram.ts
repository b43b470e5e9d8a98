import { openStandIn } from './stand-in';
import type { StandIn } from './stand-in';

/** A call of the Bot API: its method, its fields, and the bytes of its files. */
export interface TelegramCall {
	token: string;
	method: string;
	fields: Record<string, string>;
	files: Record<string, { name: string; type: string; bytes: Buffer }>;
}

/** The Bot API of Telegram, as far as it takes messages. */
export class Telegram {
	readonly calls: TelegramCall[] = [];
	private standIn!: StandIn;

	static async open(): Promise<Telegram> {
		const telegram = new Telegram();
		telegram.standIn = await openStandIn((request) => telegram.answer(request));
		return telegram;
	}

	/** What the credential's base URL is set to. */
	get url(): string {
		return this.standIn.url;
	}

	async close(): Promise<void> {
		await this.standIn.close();
	}

	private async answer(request: Request): Promise<Response> {
		const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(new URL(request.url).pathname) ?? [];
		if (!token) return Response.json({ ok: false, description: 'Not Found' }, { status: 404 });
		const call: TelegramCall = { token, method, fields: {}, files: {} };
		for (const [name, value] of await request.formData()) {
			if (typeof value === 'string') call.fields[name] = value;
			else {
				const bytes = Buffer.from(await value.arrayBuffer());
				call.files[name] = { name: value.name, type: value.type, bytes };
			}
		}
		this.calls.push(call);
		const chat = { id: -1001, type: 'channel', title: 'Test' };
		const result = { message_id: this.calls.length, date: 1, chat, caption: call.fields.caption };
		return Response.json({ ok: true, result });
	}
}
