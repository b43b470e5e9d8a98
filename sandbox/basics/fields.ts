import { ServiceError } from './errors';
import { isLoopback } from './loopback';

export type Fields = Readonly<Record<string, unknown>>;

/** Returns true for a JSON object, but not for an array or null. */
export function isObject(value: unknown): value is Fields {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true if a field was not sent, or was sent as null, which is the default in the spec. */
export function isAbsent(value: unknown): value is null | undefined {
	return value === undefined || value === null;
}

/** Returns an `invalid_parameter` error (spec 7). */
export function badValue(param: string, message: string): ServiceError {
	return new ServiceError('invalid_parameter', message, param);
}

/** Returns a required text. Throws `invalid_request` if it is missing or blank (spec 7). */
export function requiredText(fields: Fields, name: string, param = name): string {
	const value = fields[name];
	if (isAbsent(value)) {
		throw new ServiceError('invalid_request', `Missing required parameter: ${param}.`, param);
	}
	if (typeof value !== 'string' || value.trim() === '') {
		throw new ServiceError('invalid_request', `${param} must be a non-empty string.`, param);
	}
	return value;
}

/** Returns a text, or null if absent. Throws `invalid_parameter`. */
export function optionalText(fields: Fields, name: string, param = name): string | null {
	const value = fields[name];
	if (isAbsent(value)) return null;
	if (typeof value !== 'string') throw badValue(param, `${param} must be a string.`);
	return value;
}

/** Returns a number, or null if absent. Throws `invalid_parameter`. */
export function optionalNumber(fields: Fields, name: string, param = name): number | null {
	const value = fields[name];
	if (isAbsent(value)) return null;
	if (typeof value !== 'number' || !Number.isFinite(value)) {
		throw badValue(param, `${param} must be a number.`);
	}
	return value;
}

/** Returns an integer, or null if absent. Throws `invalid_parameter`. */
export function optionalInteger(fields: Fields, name: string, param = name): number | null {
	const value = optionalNumber(fields, name, param);
	if (value !== null && !Number.isSafeInteger(value)) {
		throw badValue(param, `${param} must be an integer.`);
	}
	return value;
}

/** The URLs that an endpoint accepts. */
type UrlRule = 'https' | 'http or https';

/** What RFC 3986 requires of the text. Browsers, and so the class URL, also repair other texts. */
const urlForm = /^https?:\/\/[^/?#][^\s\p{Cc}\\]*$/iu;

function isFetchable(text: string, rule: UrlRule): boolean {
	if (!urlForm.test(text) || !URL.canParse(text)) return false;
	const { protocol, hostname } = new URL(text);
	if (protocol === 'https:') return true;
	// The sandbox's storage has no TLS, and its outputs can be used as references.
	return protocol === 'http:' && (rule === 'http or https' || isLoopback(hostname));
}

/** Throws `invalid_parameter` unless the URL follows the rule. An http URL of this machine is always accepted. */
export function assertUrl(value: string, param: string, rule: UrlRule): void {
	if (!isFetchable(value, rule)) throw badValue(param, `${param} must be an ${rule} URL.`);
}

/** Returns a list of URLs, which is empty if the field is absent. Throws `invalid_parameter`. */
export function urlList(fields: Fields, name: string, rule: UrlRule): string[] {
	const value = fields[name];
	if (isAbsent(value)) return [];
	if (!Array.isArray(value)) throw badValue(name, `${name} must be an array of URLs.`);
	return value.map((entry: unknown, index) => {
		const param = `${name}[${index}]`;
		if (typeof entry !== 'string') throw badValue(param, `${param} must be a URL.`);
		assertUrl(entry, param, rule);
		return entry;
	});
}
