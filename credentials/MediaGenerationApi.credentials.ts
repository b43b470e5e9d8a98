import type {
	ICredentialDataDecryptedObject,
	Icon,
	ICredentialType,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

import { apiKeyOf, serviceAddress } from '../nodes/shared/http/credential';

/** The credential: the service's Base URL and the API key (spec 5). */
export class MediaGenerationApi implements ICredentialType {
	name = 'mediaGenerationApi';

	displayName = 'Media Generation API';

	icon: Icon = {
		light: 'file:../icons/mediaGenerationApi.svg',
		dark: 'file:../icons/mediaGenerationApi.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-media-generation/n8n-nodes-media-generation#credentials';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://api.example.com',
			description: 'Address of the service, with or without /v1 at the end',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'Create an API key in your service’s app, under API / MCP Access; n8n sends it only to the Base URL',
		},
	];

	authenticate = authenticate;
}

/** Turns off redirects in both of n8n's request helpers: a followed redirect could send the API key to another host. */
const NO_REDIRECTS = {
	disableFollowRedirect: true,
	followRedirect: false,
	followAllRedirects: false,
};

/**
 * Adds the API key to a request. Other nodes, such as n8n's HTTP Request, can use the credential for any URL. The key must
 * only go to the origin of the Base URL, so requests to another origin are rejected, and redirects are not followed.
 *
 * @throws Error for a request to another origin, an invalid URL, or an invalid Base URL
 */
async function authenticate(
	{ apiKey, baseUrl }: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions & { uri?: string },
): Promise<IHttpRequestOptions> {
	const own = serviceAddress(baseUrl);
	const origin = originOf(options.url ?? options.uri, own);
	if (origin !== new URL(own).origin) {
		throw new Error(
			`The API key is sent to the Base URL only, not to ${origin}. For an output URL, set Authentication to None`,
		);
	}
	return {
		...options,
		// A node may have set another `baseURL`, to which the key would be sent if `url` is only a path.
		...(options.baseURL !== undefined && { baseURL: own }),
		headers: { ...options.headers, Authorization: `Bearer ${apiKeyOf(apiKey)}` },
		...NO_REDIRECTS,
	};
}

function originOf(url: string | undefined, own: string): string {
	try {
		// Only a path is resolved against the Base URL. `https:example.com` would resolve to it, but be sent elsewhere.
		return new URL(String(url), url?.startsWith('/') ? own : undefined).origin;
	} catch {
		throw new Error('The URL must begin with the Base URL, or with /');
	}
}
