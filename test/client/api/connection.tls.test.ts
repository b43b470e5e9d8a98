import { Agent } from 'node:https';

import { errorFromConnection } from '../../../client/api/connection';
import { http } from '../../../tools/http';
import { companyCa, startTlsServer, type Certificate } from '../../support/tls-server';

/** Returns the error of a request to a server with a certificate. */
async function refusal(certificate: Certificate, ca?: string): Promise<unknown> {
	const server = await startTlsServer(certificate);
	try {
		const httpsAgent = new Agent({ ca, keepAlive: false });
		return await http.post(`${server.url}/v1/images/generations`, {}, { httpsAgent }).then(
			() => 'answered',
			(error: unknown) => error,
		);
	} finally {
		expect(server.requests).toBe(ca === companyCa && certificate === 'company' ? 1 : 0);
		await server.close();
	}
}

const UNKNOWN = 'The service cannot be reached: its certificate is from an unknown issuer';

describe('a certificate that is not accepted', () => {
	it.each<[Certificate, string | undefined, string, RegExp]>([
		['selfSigned', undefined, UNKNOWN, /NODE_EXTRA_CA_CERTS/],
		['company', undefined, UNKNOWN, /NODE_EXTRA_CA_CERTS/],
		['companyChain', undefined, UNKNOWN, /NODE_EXTRA_CA_CERTS/],
		['expired', companyCa, 'The service cannot be reached: its certificate has expired', /clock/],
		[
			'otherHost',
			companyCa,
			'The service cannot be reached: its certificate is for a different host name',
			/Base URL/,
		],
	])(
		'costs nothing, is not tried again, and says what to do: %s',
		async (certificate, ca, message, advice) => {
			const error = errorFromConnection(await refusal(certificate, ca), true);
			expect(error).toMatchObject({
				message,
				description: expect.stringMatching(advice) as string,
				code: 'connection_failed',
				charge: 'none',
				retry: 'never',
			});
			if (ca) expect(error.description).not.toContain('NODE_EXTRA_CA_CERTS');
		},
	);

	it('is accepted if its issuer is known', async () => {
		expect(await refusal('company', companyCa)).toBe('answered');
	});
});
