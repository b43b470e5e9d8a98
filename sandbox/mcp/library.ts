import type { BookEntry } from '../books/books';
import { badValue, optionalInteger, optionalText } from '../basics/fields';
import type { Fields } from '../basics/fields';
import { wellFormed } from '../basics/json';
import { succeeded } from './connection';
import type { McpConnection, ToolAnswer } from './connection';

const largestPage = 100;
const inlineData = /^data:[^,]{1,100},/;

/** Returns the library entry of a finished output, with a URL that is currently valid. */
function libraryEntry({ service }: McpConnection, entry: BookEntry): Record<string, unknown> {
	const { id, type, model, prompt, created, charged } = entry;
	return {
		id,
		type,
		model,
		prompt,
		created: Math.floor(created / 1000),
		credits: charged,
		url: service.outputUrl(id),
	};
}

/** Returns one page of the account's finished outputs, newest first. Throws a ServiceError. */
export function listLibrary(connection: McpConnection, args: Fields): ToolAnswer {
	const type = optionalText(args, 'type') ?? 'all';
	if (!['all', 'image', 'video'].includes(type)) {
		throw badValue('type', 'type must be image, video or all.');
	}
	const limit = optionalInteger(args, 'limit') ?? 20;
	if (limit < 1 || limit > largestPage) {
		throw badValue('limit', `limit must be from 1 to ${largestPage}.`);
	}
	const after = optionalText(args, 'after');
	const { service, caller } = connection;
	const outputs = service.books.generations
		.filter(({ account, state }) => account === caller.account.name && state === 'completed')
		.filter((entry) => type === 'all' || entry.type === type)
		.reverse();
	const start = after === null ? 0 : outputs.findIndex(({ id }) => id === after) + 1;
	if (after !== null && start === 0) throw badValue('after', `No output with the id ${after}.`);
	const page = outputs.slice(start, start + limit);
	const data = page.map((entry) => libraryEntry(connection, entry));
	const more = outputs.length > start + page.length;
	return succeeded({ object: 'list', data, has_more: more }, `${data.length} outputs`);
}

/** Returns a copy in which inline files are reduced to their type. */
function withoutInlineData(request: object): unknown {
	const text = JSON.stringify(request, (_name, value: unknown) => {
		const found = typeof value === 'string' && inlineData.exec(value);
		return found ? `${found[0]}…` : value;
	});
	return JSON.parse(text);
}

/** Returns the generation as in a status response, with its request and its charge. */
export async function generationDetails(
	connection: McpConnection,
	id: string,
): Promise<ToolAnswer> {
	const looked = await connection.ask({ method: 'GET', path: generationPath(id) });
	const entry = connection.service.books.find(id);
	if (looked.failed || !entry) return looked;
	const { prompt, request, charged, refunded } = entry;
	const details = {
		prompt,
		request: withoutInlineData(request),
		credits_charged: charged,
		credits_refunded: refunded,
	};
	return { ...looked, body: { ...(looked.body as object), ...details } };
}

/** Returns the path of a generation's status endpoint (spec 4.3). */
export function generationPath(id: string): string {
	return `/v1/generations/${encodeURIComponent(wellFormed(id))}`;
}
