import type { ChatMessage, ChatRequest, ChatTurn } from './chat-model';

/**
 * The rules of the chat model in `npm start`. It knows the tools of the agent examples, and selects them by keywords in
 * the user's message.
 */

const GREETING =
	'I am a stand-in for a chat model, and know three things to do: draw a picture (“Draw a fox in a snowy forest”), ' +
	'make a short video (“A short video of it sleeping”, and later “Is it ready?”), and say how many credits are left.';

/** A tool call. */
interface Step {
	/** The end of the tool's name. */
	tool: string;
	/** @param answer result of the previous tool; for the first one, the chat so far */
	args: (wish: string, answer: string) => object;
}

const balance: Step[] = [{ tool: 'Check_Credits', args: () => ({}) }];

const video: Step[] = [{ tool: 'Start_Video', args: (prompt) => ({ prompt, image_url: '' }) }];

/** Looks for the generation that the chat named last. */
const earlier: Step[] = [{ tool: 'Collect_Generation', args: (_, said) => ({ id: lastId(said) }) }];

const picture: Step[] = [
	{
		tool: 'Create_Picture',
		args: (prompt) => ({ prompt, aspect_ratio: /\bwide\b/i.test(prompt) ? '16:9' : '1:1' }),
	},
];

const libraryPicture: Step[] = [
	{ tool: 'list_models', args: () => ({ type: 'image' }) },
	{
		tool: 'create_generation',
		args: (prompt, answer) => ({ type: 'image', model: idIn(answer), prompt }),
	},
];

/** Keywords and the steps for them. The first match whose tools are available is used. */
const WISHES: Array<[words: RegExp, steps: Step[]]> = [
	[/\b(credits?|balance)\b/i, balance],
	[/\b(ready|done|finished)\b/i, earlier],
	[/\b(videos?|clip|film|animat\w+)\b/i, video],
	[/\b(draw|paint|pictures?|images?|photos?)\b/i, picture],
	[/\b(pictures?|images?|photos?)\b/i, libraryPicture],
];

/** Decides what the chat model does next. */
export function assist({ messages, tools = [] }: ChatRequest): ChatTurn {
	const asked = messages.map(({ role }) => role).lastIndexOf('user');
	const wish = textOf(messages[asked]);
	const answers = messages.slice(asked + 1).filter(({ role }) => role === 'tool');
	const nameOf = ({ tool }: Step) =>
		tools.map(({ function: { name } }) => name).find((name) => name.endsWith(tool));
	const known = WISHES.find(([words, steps]) => words.test(wish) && steps.every(nameOf));
	if (!known) return { text: GREETING };
	const answer = textOf(answers.at(-1));
	const step = known[1][answers.length];
	const failed = /error/i.test(answer);
	if (!step || failed) return { text: told(answer) };
	const before = messages.slice(0, asked).map(textOf).join('\n');
	const material = answers.length > 0 ? answer : before;
	return { tool: nameOf(step) as string, args: step.args(wish, material) };
}

function textOf(message?: ChatMessage): string {
	return message?.content ?? '';
}

/** Returns the first ID in a tool's result, which is JSON, or JSON in a text in JSON. */
function idIn(answer: string): string {
	return /"id\\*":\s*\\*"([\w.-]+)/.exec(answer)?.[1] ?? '';
}

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

/** Returns the ID that a chat named last. */
function lastId(chat: string): string {
	return chat.match(UUID)?.at(-1) ?? '';
}

function told(answer: string): string {
	const id = idIn(answer);
	const isRunning = /"status\\*":\s*\\*"(pending|processing)/.test(answer);
	if (id && isRunning) return `It is being made. Ask me in a minute whether ${id} is ready.`;
	const [url] = /https?:\/\/[^"\\\s]+/.exec(answer) ?? [];
	if (!url) return `The tool answered: ${answer}`;
	return /\.mp4\b/.test(url) ? `Here it is: [Watch the video](${url})` : `Here it is: ![](${url})`;
}
