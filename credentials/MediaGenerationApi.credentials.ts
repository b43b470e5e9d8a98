import type {
	ICredentialDataDecryptedObject,
	Icon,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import { serviceAddress } from '../client/wire/base-url';

/** Where the service is, and the key to it (spec 5). */
export class MediaGenerationApi implements ICredentialType {
	name = 'mediaGenerationApi';

	displayName = 'Media Generation API';

	icon: Icon = {
		light: 'file:../icons/mediaGenerationApi.svg',
		dark: 'file:../icons/mediaGenerationApi.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-media-generation/n8n-nodes-media-generation#credential';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://api.example.com',
			description: 'Address of the service, without /v1',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'Created in the service’s app on the API / MCP Access page. It is sent to the base URL only.',
		},
	];

	authenticate = authenticate;

	test: ICredentialTestRequest = {
		request: {
			// As it was typed: `authenticate` checks it.
			baseURL: '={{$credentials.baseUrl}}',
			url: '/v1/credits/balance',
			// n8n would take the key along to wherever a redirect leads.
			disableFollowRedirect: true,
		},
		rules: [
			responds(401, 'The API key was refused: it is mistyped, expired or revoked'),
			responds(403, 'The API key lacks permission for this action'),
			...[404, 405, 410].map((status) => responds(status, WRONG_ADDRESS)),
			...[301, 302, 303, 307, 308].map((status) => responds(status, REDIRECTS)),
			...BALANCE.map(lacks),
			// n8n reads both kinds out of one list; its type knows lists of one kind only.
		] as ICredentialTestRequest['rules'],
	};
}

/**
 * Adds the key to a request. Only the credential's test has a base address: it is brought into form, or refused with
 * words that the user sees. An expression in the test could do neither.
 */
async function authenticate(
	{ apiKey }: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions,
): Promise<IHttpRequestOptions> {
	const headers = { ...options.headers, Authorization: `Bearer ${String(apiKey).trim()}` };
	if (options.baseURL === undefined) return { ...options, headers };
	return { ...options, headers, baseURL: addressIn(options.baseURL) };
}

function addressIn(baseUrl: string): string {
	try {
		return serviceAddress(baseUrl);
	} catch (error) {
		// n8n shows the code of an error, where it has one, in place of its message.
		throw new Error((error as Error).message);
	}
}

const WRONG_ADDRESS = 'This is not the address of the service: check the Base URL';
const REDIRECTS =
	'The Base URL redirects elsewhere: enter the final address, as the key is not sent across a redirect';

/**
 * What a balance has (spec 2.3), as paths into it: a website's page and an n8n answer any address with 200. A rule can
 * only refuse, so it refuses what is not there; `object` is at least as long as `credit_balance`, which `list` is not.
 */
const BALANCE = ['object', `object[${'credit_balance'.length - 1}]`, 'balance'];

/** Refuses a success whose body has nothing at that path. */
function lacks(key: string) {
	const properties = { key, value: undefined, message: WRONG_ADDRESS };
	return { type: 'responseSuccessBody' as const, properties };
}

/** What the test says where the service answers with that status. */
function responds(value: number, message: string) {
	return { type: 'responseCode' as const, properties: { value, message } };
}
