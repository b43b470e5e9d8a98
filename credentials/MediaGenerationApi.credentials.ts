import type {
	IAuthenticateGeneric,
	Icon,
	ICredentialTestRequest,
	ICredentialType,
	INodeProperties,
} from 'n8n-workflow';

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

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
	};

	test: ICredentialTestRequest = {
		request: {
			// The same tolerance as `serviceAddress` in nodes/shared/transport.ts: a trailing slash or /v1.
			baseURL: '={{$credentials.baseUrl.trim().replace(/\\/+$/, "").replace(/\\/v1$/, "")}}',
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
