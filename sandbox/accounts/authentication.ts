import type { AccountBook, ApiKey } from './accounts';
import { ServiceError } from '../basics/errors';
import { bearerOf } from '../books/requests';

const keyForm = /^svc_live_[0-9a-f]{40}$/;

/** Returns true if a text has the format of an API key (spec 5.2). */
export function hasKeyForm(text: string): boolean {
	return keyForm.test(text);
}

/**
 * Returns the key of a request (spec 5). Throws a 401 in one of the three forms of the spec: the usual one, the one
 * for expired keys, or the alternate body.
 */
export function authenticate(accounts: AccountBook, authorization: string | undefined): ApiKey {
	const text = bearerOf(authorization);
	if (text === null) throw new ServiceError('authentication_error', 'The API key is missing.');
	if (!hasKeyForm(text)) {
		throw new ServiceError('authentication_error', 'The API key is malformed.');
	}
	const key = accounts.findKey(text);
	if (!key) throw new ServiceError('authentication_error', 'The API key is not known.');
	if (key.state === 'revoked') {
		throw new ServiceError('authentication_error', 'The API key has been revoked.');
	}
	if (key.state === 'revokedAlternate') throw new ServiceError('invalid_api_key');
	if (key.state === 'expired') throw new ServiceError('expired_api_key');
	return key;
}
