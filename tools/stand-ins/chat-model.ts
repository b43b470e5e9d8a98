import { randomUUID } from 'node:crypto';
import { openStandIn } from './stand-in';
import type { StandIn } from './stand-in';

/** A message of a conversation in OpenAI's wire format. */
export interface ChatMessage {
	role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
	content: string | null;
}

/** A request for the next message of a conversation. */
export interface ChatRequest {
	model: string;
	messages: ChatMessage[];
	tools?: Array<{ function: { name: string; description: string; parameters: object } }>;
}

/** The model's next action: a tool call or an answer. */
export type ChatTurn = { tool: string; args: object } | { text: string };

/** Decides what the model does next. */
type ChatRules = (request: ChatRequest) => ChatTurn;

/** A chat model in OpenAI's wire format that follows rules. */
export class ChatModel {
	readonly requests: ChatRequest[] = [];
	private standIn!: StandIn;

	private constructor(private readonly rules: ChatRules) {}

	static async open(rules: ChatRules): Promise<ChatModel> {
		const model = new ChatModel(rules);
		model.standIn = await openStandIn((request) => model.answer(request));
		return model;
	}

	/** Opens a model that follows a script: one entry per request. */
	static async scripted(...script: ChatRules[]): Promise<ChatModel> {
		const turns = [...script];
		return await ChatModel.open((request) => {
			const next = turns.shift();
			if (!next) throw new Error('The script has ended.');
			return next(request);
		});
	}

	/** Data of a credential of the type `openAiApi`. */
	get credential(): object {
		return { apiKey: 'stand-in', url: `${this.standIn.url}/v1`, header: false };
	}

	async close(): Promise<void> {
		await this.standIn.close();
	}

	private async answer(request: Request): Promise<Response> {
		const { pathname } = new URL(request.url);
		// n8n's test of the credential, and its list of models.
		if (pathname === '/v1/models') {
			return Response.json({ object: 'list', data: [{ id: 'stand-in', object: 'model' }] });
		}
		if (pathname !== '/v1/chat/completions') return new Response(null, { status: 404 });
		const asked = (await request.json()) as ChatRequest;
		this.requests.push(asked);
		const turn = this.rules(asked);
		const message =
			'text' in turn
				? { role: 'assistant', content: turn.text }
				: { role: 'assistant', content: null, tool_calls: [toolCall(turn)] };
		const finish = 'text' in turn ? 'stop' : 'tool_calls';
		return Response.json({
			id: `chatcmpl-${randomUUID()}`,
			object: 'chat.completion',
			created: Math.floor(Date.now() / 1000),
			model: asked.model,
			choices: [{ index: 0, message, finish_reason: finish }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
	}
}

function toolCall({ tool, args }: Extract<ChatTurn, { tool: string }>): object {
	const call = { name: tool, arguments: JSON.stringify(args) };
	return { id: `call_${randomUUID()}`, type: 'function', function: call };
}
