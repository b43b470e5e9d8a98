import { ServiceError } from './errors';
import { isLoopback } from './loopback';

export type Fields = Readonly<Record<string, unknown>>;

/** A JSON object, and not an array or null. */
export function isObject(value: unknown): value is Fields {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Absent: not sent, or sent as the null that the spec gives as default. */
export function isAbsent(value: unknown): value is null | undefined {
	return value === undefined || value === null;
}

/** Spec 7, `invalid_parameter`. */
export function badValue(param: string, message: string): ServiceError {
	return new ServiceError('invalid_parameter', message, param);
}

/** A text that must be there and not be blank; throws `invalid_request` (spec 7). */
export function requiredText(fields: Fields, name: string): string {
	const value = fields[name];
	if (isAbsent(value)) {
		throw new ServiceError('invalid_request', `Missing required parameter: ${name}.`, name);
	}
	if (typeof value !== 'string' || value.trim() === '') {
		throw new ServiceError('invalid_request', `${name} must be a non-empty string.`, name);
	}
	return value;
}

/** A text or null; throws `invalid_parameter`. */
export function optionalText(fields: Fields, name: string, param = name): string | null {
	const value = fields[name];
	if (isAbsent(value)) return null;
	if (typeof value !== 'string') throw badValue(param, `${param} must be a string.`);
	return value;
}

/** A number or null; throws `invalid_parameter`. */
export function optionalNumber(fields: Fields, name: string, param = name): number | null {
	const value = fields[name];
	if (isAbsent(value)) return null;
	if (typeof value !== 'number' || !Number.isFinite(value)) {
		throw badValue(param, `${param} must be a number.`);
	}
	return value;
}

/** A whole number or null; throws `invalid_parameter`. */
export function optionalInteger(fields: Fields, name: string, param = name): number | null {
	const value = optionalNumber(fields, name, param);
	if (value !== null && !Number.isSafeInteger(value)) {
		throw badValue(param, `${param} must be an integer.`);
	}
	return value;
}

/** Which URLs an endpoint takes. */
export type UrlRule = 'https' | 'http or https';

function isFetchable(text: string, rule: UrlRule): boolean {
	if (!URL.canParse(text)) return false;
	const { protocol, hostname } = new URL(text);
	if (protocol === 'https:') return true;
	// The sandbox's own storage has no TLS, and its outputs can be references.
	return protocol === 'http:' && (rule === 'http or https' || isLoopback(hostname));
}

/** Throws `invalid_parameter` unless the text is a URL as the rule has it. http to this machine always passes. */
export function assertUrl(value: string, param: string, rule: UrlRule): void {
	if (!isFetchable(value, rule)) throw badValue(param, `${param} must be an ${rule} URL.`);
}

/** A list of URLs, empty where absent; throws `invalid_parameter`. */
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
