import { MediaGenerationApi } from '../../../credentials/MediaGenerationApi.credentials';
import { serviceAddress } from '../../../nodes/shared/http/credential';
import { GenerationError } from '../../../client/api/errors';

describe('the Base URL', () => {
	it.each([
		['https://api.example.com', 'https://api.example.com'],
		['https://api.example.com/', 'https://api.example.com'],
		['https://api.example.com/v1', 'https://api.example.com'],
		['https://api.example.com/v1/', 'https://api.example.com'],
		['  https://api.example.com/v1\n', 'https://api.example.com'],
		['https://api.example.com/media/v1', 'https://api.example.com/media'],
		['https://api.example.com/v10', 'https://api.example.com/v10'],
		['HTTPS://API.example.com:443/', 'https://api.example.com'],
		['http://localhost:3000/', 'http://localhost:3000'],
	])('%j becomes %s', (typed, address) => {
		expect(serviceAddress(typed)).toBe(address);
	});
});

describe('an invalid Base URL', () => {
	it.each([
		['', 'is empty'],
		[' \n', 'is empty'],
		[undefined, 'is empty'],
		['file:///x', 'must start with https:// or http://'],
		['api.example.com', 'must start with https:// or http://'],
		['localhost:3000', 'must start with https:// or http://'],
		['https://', 'is not a valid web address'],
		['https://api.example.com:99999', 'is not a valid web address'],
		['https://api.exam ple.com', 'is not a valid web address'],
		['http://user:pass@api.example.com', 'must not contain a user name or password'],
		['https://api.example.com/?key=1', 'must not contain ? or #'],
		['https://api.example.com#top', 'must not contain ? or #'],
	])('%j is rejected: it %s', (typed, reason) => {
		const refused = refusalOf(typed);
		expect(refused).toMatchObject({
			message: `The Base URL in the credential ${reason}`,
			code: 'invalid_base_url',
			charge: 'none',
			retry: 'never',
			fatalForStep: true,
		});
	});

	it('is not repeated in the error, because it may contain a password', () => {
		const { message, description } = refusalOf('http://user:hunter2@api.example.com');
		expect(message + description).not.toContain('hunter2');
	});
});

describe('the API key, in a request of another node', () => {
	const own = 'https://api.example.com';
	const { authenticate } = new MediaGenerationApi();
	const sent = async (url: string | undefined, more = {}) =>
		await authenticate({ apiKey: 'key', baseUrl: `${own}/v1` }, { url: url as string, ...more });

	it.each([`${own}/v1/models`, 'HTTPS://API.example.com:443/x', '/v1/models'])(
		'is added, and no redirect is followed: %s',
		async (url) => {
			const headers = { Authorization: 'Bearer key' };
			expect(await sent(url)).toMatchObject({ url, headers, disableFollowRedirect: true });
		},
	);

	it('is not sent to the base URL that the other node has set', async () => {
		const { baseURL } = await sent('/v1/models', { baseURL: 'https://evil.example' });
		expect(baseURL).toBe(own);
	});

	it.each([
		['//evil.example/x', 'to the Base URL only'],
		['/\\evil.example/x', 'to the Base URL only'],
		['https:evil.example', 'to the Base URL only'],
		[`${own}.evil.example/`, 'to the Base URL only'],
		['http://api.example.com/', 'to the Base URL only'],
		['v1/models', 'must begin with the Base URL, or with /'],
		[undefined, 'must begin with the Base URL, or with /'],
	])('is sent nowhere else: %s', async (url, words) => {
		await expect(sent(url)).rejects.toThrow(words);
	});
});

function refusalOf(typed: unknown): GenerationError {
	try {
		serviceAddress(typed);
	} catch (error) {
		if (error instanceof GenerationError) return error;
		throw error;
	}
	throw new Error('It was not refused');
}
