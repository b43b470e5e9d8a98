// node --import tsx oauth4webapi.ts <URL of the connector>
// Signs in by each method for the token endpoint. Prints JSON: the method that was registered, the balance that the token
// shows, and the status that the connector has for the token once it is revoked.
import * as oauth from 'oauth4webapi';
import { http } from '../../../tools/http';
import { answerQuestion } from '../../sandbox/signing-in';

const connector = new URL(process.argv[2]);
const options = { [oauth.allowInsecureRequests]: true };
const redirectUri = 'http://localhost:9876/callback';

async function discover() {
	const found = await oauth.resourceDiscoveryRequest(connector, options);
	const resource = await oauth.processResourceDiscoveryResponse(connector, found);
	const issuer = new URL(resource.authorization_servers?.[0] ?? '');
	const described = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
	return { resource, server: await oauth.processDiscoveryResponse(issuer, described) };
}

/** The fields of a registration that its own type leaves open. */
type Registration = oauth.Client & {
	client_secret?: string;
	token_endpoint_auth_method?: string;
};

function authenticationOf({
	token_endpoint_auth_method: method,
	client_secret: secret = '',
}: Registration): oauth.ClientAuth {
	if (method === 'none') return oauth.None();
	return method === 'client_secret_post'
		? oauth.ClientSecretPost(secret)
		: oauth.ClientSecretBasic(secret);
}

async function callTool(token: string, name: string): Promise<Record<string, unknown>> {
	const response = await oauth.protectedResourceRequest(
		token,
		'POST',
		connector,
		new Headers({
			accept: 'application/json, text/event-stream',
			'content-type': 'application/json',
		}),
		JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }),
		options,
	);
	const { result } = (await response.json()) as { result: { content: [{ text: string }] } };
	return JSON.parse(result.content[0].text) as Record<string, unknown>;
}

async function signIn(
	{ resource, server }: Awaited<ReturnType<typeof discover>>,
	asked: string | undefined,
) {
	const metadata = {
		redirect_uris: [redirectUri],
		...(asked && { token_endpoint_auth_method: asked }),
	};
	const client = (await oauth.processDynamicClientRegistrationResponse(
		await oauth.dynamicClientRegistrationRequest(server, metadata, options),
	)) as Registration;
	const authentication = authenticationOf(client);
	const verifier = oauth.generateRandomCodeVerifier();
	const address = new URL(server.authorization_endpoint ?? '');
	const parameters = new URLSearchParams({
		client_id: client.client_id,
		redirect_uri: redirectUri,
		response_type: 'code',
		code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
		code_challenge_method: 'S256',
		state: 'a state',
		resource: resource.resource,
	});
	address.search = parameters.toString();
	const back = oauth.validateAuthResponse(
		server,
		client,
		await answerQuestion(address, 'allow'),
		'a state',
	);
	const first = await oauth.processAuthorizationCodeResponse(
		server,
		client,
		await oauth.authorizationCodeGrantRequest(
			server,
			client,
			authentication,
			back,
			redirectUri,
			verifier,
			{ ...options, additionalParameters: { resource: resource.resource } },
		),
	);
	const refreshed = await oauth.processRefreshTokenResponse(
		server,
		client,
		await oauth.refreshTokenGrantRequest(
			server,
			client,
			authentication,
			first.refresh_token ?? '',
			options,
		),
	);
	const { balance } = await callTool(refreshed.access_token, 'get_balance');
	const { refresh_token: token = '' } = refreshed;
	await oauth.processRevocationResponse(
		await oauth.revocationRequest(server, client, authentication, token, options),
	);
	const headers = { authorization: `Bearer ${refreshed.access_token}` };
	const afterwards = (await http.get(connector.href, { headers })).status;
	return { asked: asked ?? null, method: client.token_endpoint_auth_method, balance, afterwards };
}

async function main(): Promise<void> {
	const found = await discover();
	const results: unknown[] = [];
	for (const asked of [undefined, 'client_secret_basic', 'client_secret_post', 'none']) {
		results.push(await signIn(found, asked));
	}
	process.stdout.write(JSON.stringify(results));
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.stack : 'It failed.'}\n`);
	process.exitCode = 1;
});
