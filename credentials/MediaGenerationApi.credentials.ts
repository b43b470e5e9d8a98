import type {
	IAuthenticateGeneric,
	Icon,
	ICredentialTestRequest,
	ICredentialType,
	INodeProperties,
} from 'n8n-workflow';

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
			responds(403, 'The API key lacks permission for this'),
			responds(404, 'This is not the address of the service: check the Base URL'),
		],
	};
}

/** What the test says where the service answers with that status. */
function responds(value: number, message: string) {
	return { type: 'responseCode' as const, properties: { value, message } };
}
