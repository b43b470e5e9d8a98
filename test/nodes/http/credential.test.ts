import { CancelledError } from '../../../client/api/errors';
import { serviceOf } from '../../../nodes/shared/http/transport';
import { contextOf } from '../../support/context';
import { controllers } from '../../support/controllers';

const READABLE = { baseUrl: 'https://api.example.com', apiKey: 'svc_live_0123456789' };
const CREATE = { type: 'image', body: { model: 'sdxl', prompt: 'A cat' } } as const;

/** A service whose credential is read by `read`, and the number of requests that n8n received. */
function service(read: () => Promise<object>, cancel?: AbortSignal) {
	let sent = 0;
	const httpRequestWithAuthentication = async () => {
		sent++;
		return { statusCode: 200, body: { id: 'x', status: 'pending' } };
	};
	const { step } = contextOf({ cancel, helpers: { httpRequestWithAuthentication } });
	step.n8n.getCredentials = read as typeof step.n8n.getCredentials;
	return { client: serviceOf(step, { maxRetries: 0 }), sent: () => sent };
}

/** A service whose credential cannot be read. */
function unreadable(error: Error) {
	return service(async () => await Promise.reject(error));
}

const idle = new AbortController().signal;

describe('a credential that cannot be read', () => {
	const failure = {
		message: 'The credential could not be read',
		details: 'No request was sent. n8n says: Database is locked.',
		description: 'Check that n8n can read its credentials, and that this one still exists.',
		code: 'credential_unreadable',
		charge: 'none',
		retry: 'backoff',
		fatalForStep: false,
	};

	it('means that nothing was sent or charged, and the request is retried', async () => {
		const { client, sent } = unreadable(new Error('Database is locked'));
		await expect(client.create(CREATE, 'key')).rejects.toMatchObject(failure);
		await expect(client.status('x', idle)).rejects.toMatchObject(failure);
		await expect(client.models('all')).rejects.toMatchObject(failure);
		expect(sent()).toBe(0);
	});

	it('has no n8n message if n8n gave none', async () => {
		const { client } = service(async () => await Promise.reject(undefined as unknown as Error));
		const details = 'No request was sent.';
		await expect(client.create(CREATE, 'key')).rejects.toMatchObject({ ...failure, details });
	});

	it.each([
		'Node does not have any credentials set',
		'Node does not have any credentials set for "mediaGenerationApi"',
		'Found credential with no ID.',
		'Credential with ID "7" does not exist for type "mediaGenerationApi".',
		'Credentials could not be decrypted. The likely reason is that a different "encryptionKey" was used',
	])('because there is none is not retried: %s', async (said) => {
		await expect(unreadable(new Error(said)).client.create(CREATE, 'key')).rejects.toMatchObject({
			message: 'The node has no credential',
			details: expect.stringContaining(`No request was sent. n8n says: ${said}`),
			description: 'Choose a Media Generation API credential in the node, or create one.',
			code: 'credential_missing',
			charge: 'none',
			retry: 'never',
			fatalForStep: false,
		});
	});
});

describe('a Base URL that cannot be used', () => {
	it('ends the step: it is empty', async () => {
		const { client } = service(async () => ({ ...READABLE, baseUrl: '' }));
		for (const request of [client.create(CREATE, 'key'), client.status('x', idle)]) {
			await expect(request).rejects.toMatchObject({
				message: 'The Base URL in the credential is empty',
				details: 'No request was sent',
				code: 'invalid_base_url',
				charge: 'none',
				retry: 'never',
				fatalForStep: true,
			});
		}
	});

	it('ends the step: it was changed after the first request', async () => {
		let baseUrl = READABLE.baseUrl;
		const { client, sent } = service(async () => ({ ...READABLE, baseUrl }));
		await client.create(CREATE, 'key');
		baseUrl = 'https://other.example.com';
		for (const request of [client.create(CREATE, 'key'), client.status('x', idle)]) {
			await expect(request).rejects.toMatchObject({
				message: 'The Base URL in the credential was changed while this node was running',
				code: 'credential_changed',
				charge: 'none',
				retry: 'never',
				fatalForStep: true,
			});
		}
		expect(sent()).toBe(1);
	});
});

describe('a request that is aborted while its credential is read', () => {
	const uncharged = {
		message: 'The credential could not be read',
		details: 'No request was sent.',
		code: 'credential_unreadable',
		charge: 'none',
		retry: 'backoff',
	};
	/** The credential arrives only after the request was aborted. */
	const abortedBy = (end: AbortController) => async () => {
		end.abort();
		await Promise.resolve();
		return READABLE;
	};

	it('by Stop creates nothing and is not charged', async () => {
		const stop = new AbortController();
		const { client, sent } = service(abortedBy(stop), stop.signal);
		await expect(client.create(CREATE, 'key')).rejects.toMatchObject(uncharged);
		expect(sent()).toBe(0);
	});

	it('by Stop is cancelled if it only reads', async () => {
		const [stop, other] = controllers(2);
		const { client, sent } = service(abortedBy(stop), stop.signal);
		await expect(client.status('x', other.signal)).rejects.toThrow(CancelledError);
		expect(sent()).toBe(0);
	});

	it('by its own signal is not sent, and may be retried', async () => {
		const own = new AbortController();
		const { client, sent } = service(abortedBy(own));
		await expect(client.status('x', own.signal)).rejects.toMatchObject(uncharged);
		await expect(client.status('x', own.signal)).rejects.toMatchObject(uncharged);
		expect(sent()).toBe(0);
	});

	it('by its timeout is not sent, and may be retried', async () => {
		const timeout = new AbortController();
		jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(timeout.signal);
		const { client, sent } = service(async () => {
			timeout.abort();
			await new Promise(setImmediate);
			return READABLE;
		});
		await expect(client.create(CREATE, 'key')).rejects.toMatchObject(uncharged);
		expect(sent()).toBe(0);
	});
});
