import { openStandIn } from './stand-in';
import type { StandIn } from './stand-in';

/** A call of the Bot API: its method, its fields, and the bytes of its files. */
interface TelegramCall {
	token: string;
	method: string;
	fields: Record<string, string>;
	files: Record<string, { name: string; type: string; bytes: Buffer }>;
}

/** The part of Telegram's Bot API that receives messages. Its page at `url` shows the photos that were sent. */
export class Telegram {
	readonly calls: TelegramCall[] = [];
	private standIn!: StandIn;

	static async open(): Promise<Telegram> {
		const telegram = new Telegram();
		telegram.standIn = await openStandIn((request) => telegram.answer(request));
		return telegram;
	}

	get url(): string {
		return this.standIn.url;
	}

	/** Data of a credential of the type `telegramApi`. */
	get credential(): object {
		return { accessToken: '123:stand-in', baseUrl: this.url };
	}

	async close(): Promise<void> {
		await this.standIn.close();
	}

	private async answer(request: Request): Promise<Response> {
		const { pathname } = new URL(request.url);
		const [, number] = /^\/photos\/(\d+)$/.exec(pathname) ?? [];
		if (number) return this.photo(Number(number));
		if (pathname === '/') return this.page();
		const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(pathname) ?? [];
		if (!token) return Response.json({ ok: false, description: 'Not Found' }, { status: 404 });
		// n8n's test of the credential.
		if (method === 'getMe') return Response.json({ ok: true, result: { id: 123, is_bot: true } });
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

	private photo(number: number): Response {
		const photo = this.calls[number]?.files.photo;
		if (!photo) return new Response('There is no such photo', { status: 404 });
		return new Response(photo.bytes, { headers: { 'content-type': photo.type } });
	}

	private page(): Response {
		const posts = this.calls.map(
			({ fields: { chat_id: chat = '', caption = '' } }, number) =>
				`<figure><img src="/photos/${number}"><figcaption>${escaped(chat)}: ${escaped(caption)}</figcaption></figure>`,
		);
		const body = posts.length > 0 ? posts.reverse().join('') : '<p>Nothing was sent yet.</p>';
		return new Response(`${HEAD}<h1>Messages</h1>${body}`, {
			headers: { 'content-type': 'text/html; charset=utf-8' },
		});
	}
}

const HEAD = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Telegram stand-in</title>
<style>:root { color-scheme: light dark } body { font-family: sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
figure { margin: 0 0 2rem } img { max-width: 100%; border-radius: 0.5rem }</style>
`;

function escaped(text: string): string {
	return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
