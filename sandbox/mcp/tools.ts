import type { Tool } from '@modelcontextprotocol/server';
import { badValue, isAbsent, optionalText, requiredText } from '../basics/fields';
import type { Fields } from '../basics/fields';
import type { McpConnection, ToolAnswer } from './connection';
import { generationDetails, generationPath, listLibrary } from './library';

/** A tool as agents see it, and its implementation. `work` throws a ServiceError to reject a call. */
export interface McpTool extends Tool {
	work(connection: McpConnection, args: Fields): ToolAnswer | Promise<ToolAnswer>;
}

type Properties = NonNullable<Tool['inputSchema']['properties']>;

const text = (description: string) => ({ type: 'string', description });
const integer = (description: string) => ({ type: 'integer', description });
const choice = (description: string, ...values: string[]) => ({
	...text(description),
	enum: values,
});

const readOnly = { readOnlyHint: true, openWorldHint: false };
const urls = { type: 'array', items: { type: 'string' } };
const generationId = text('The id that create_generation answered with');
const input = {
	type: 'object',
	properties: {
		type: choice('What kind of file it is', 'image', 'video', 'audio'),
		source: choice('Whether value is an https URL or a base64 data URI', 'url', 'data'),
		value: text('The URL, or the data URI of at most 4.5 MB decoded'),
	},
	required: ['type', 'source', 'value'],
};

function schema(properties: Properties, ...required: string[]): Tool['inputSchema'] {
	return { type: 'object', properties, required };
}

/** Converts the tool's flat arguments to the body of the REST request (spec 4.1, 4.2) and sends it. */
async function createGeneration(connection: McpConnection, args: Fields): Promise<ToolAnswer> {
	const { type = requiredText(args, 'type'), aspect_ratio, negative_prompt, seed, ...rest } = args;
	if (!isAbsent(rest.parameters)) {
		// Ignored, it would be charged without what the agent asked for.
		const message = 'Send aspect_ratio, negative_prompt and seed at top level, not in parameters.';
		throw badValue('parameters', message);
	}
	if (type === 'video') {
		const body = { ...rest, negative_prompt, seed };
		return await connection.ask({ method: 'POST', path: '/v1/videos/generations', body });
	}
	if (type !== 'image') throw badValue('type', 'type must be image or video.');
	const body = { ...rest, parameters: { aspect_ratio, negative_prompt, seed } };
	return await connection.ask({ method: 'POST', path: '/v1/images/generations', body });
}

/** The six tools of the connector (spec 1.6). */
export const mcpTools: readonly McpTool[] = [
	{
		name: 'list_models',
		description: 'List the models that generate images and videos.',
		annotations: readOnly,
		inputSchema: schema({
			type: choice('Which models to list; all by default', 'all', 'image', 'video'),
		}),
		work: async (connection, args) => {
			const query = { type: optionalText(args, 'type') ?? undefined };
			return await connection.ask({ method: 'GET', path: '/v1/models', query });
		},
	},
	{
		name: 'create_generation',
		description:
			'Start a generation of an image or a video. Credits are charged at once and come back if it ' +
			'fails. Answers with an id: call check_generation with it every few seconds until the status ' +
			'is completed or failed. The output is then at data[0].url for one hour.',
		annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
		inputSchema: schema(
			{
				type: choice('What to create', 'image', 'video'),
				model: text('Id of a model of that type, from list_models'),
				prompt: text('What to generate, described in words'),
				negative_prompt: text('What to leave out; only some models support it'),
				seed: integer('The same seed gives the same output again'),
				size: text('Images: width and height such as 1024x1024'),
				aspect_ratio: text('Images: width to height such as 16:9; overrides the size'),
				edit_mode: text('Images: editing mode, for models that edit'),
				inputs: { type: 'array', items: input, description: 'Images: reference inputs' },
				resolution: choice('Videos: 720p by default', '480p', '720p', '1080p'),
				duration: { type: 'number', description: 'Videos: seconds; 4 by default' },
				fps: { type: 'integer', enum: [12, 24, 30], description: 'Videos: 24 by default' },
				image_url: text('Videos: URL of the picture to start from'),
				input_images: { ...urls, description: 'https URLs of reference pictures' },
			},
			'type',
			'model',
			'prompt',
		),
		work: createGeneration,
	},
	{
		name: 'check_generation',
		description: 'Check the status of a generation, and get the URL of its output.',
		annotations: readOnly,
		inputSchema: schema({ id: generationId }, 'id'),
		work: async (connection, args) =>
			await connection.ask({ method: 'GET', path: generationPath(requiredText(args, 'id')) }),
	},
	{
		name: 'get_generation_details',
		description:
			'Get all that is known of a generation: its status, what was asked for, and what it cost.',
		annotations: readOnly,
		inputSchema: schema({ id: generationId }, 'id'),
		work: async (connection, args) => await generationDetails(connection, requiredText(args, 'id')),
	},
	{
		name: 'list_library',
		description:
			'List the finished pictures and videos of the account, newest first, each with a URL that ' +
			'works for one hour.',
		annotations: readOnly,
		inputSchema: schema({
			type: choice('Which outputs to list; all by default', 'all', 'image', 'video'),
			limit: { ...integer('How many, 20 by default'), minimum: 1, maximum: 100 },
			after: text('Id of the last entry of the page before, for the next page'),
		}),
		work: listLibrary,
	},
	{
		name: 'get_balance',
		description: 'Get the credits that are left.',
		annotations: readOnly,
		inputSchema: schema({}),
		work: async (connection) =>
			await connection.ask({ method: 'GET', path: '/v1/credits/balance' }),
	},
];
