import { ServiceError } from '../basics/errors';
import { assertUrl, badValue, isAbsent, isObject, requiredText } from '../basics/fields';

/** Spec 8: an inline input can have about 4.5 MB once decoded. */
const inlineLimitBytes = 4.5 * 1024 * 1024;

const dataUri = /^data:([\w.+-]+\/[\w.+-]+)?(;[\w=.+-]+)*;base64,/;
const inputTypes: readonly string[] = ['image', 'video', 'audio'];

/** Returns true if a text is base64 of at least one byte. The padding may be missing, but not be wrong. */
function isBase64(text: string): boolean {
	const [, digits, padding] = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(text) ?? [];
	if (!digits || digits.length % 4 === 1) return false;
	return padding === '' || text.length % 4 === 0;
}

function assertInline(value: string, param: string): void {
	const header = dataUri.exec(value);
	if (!header) throw badValue(param, `${param} must be a base64 data URI.`);
	const base64 = value.slice(header[0].length);
	if (base64 === '') throw badValue(param, `${param} holds no data.`);
	const digits = base64.length - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
	if (Math.floor((digits * 3) / 4) > inlineLimitBytes) {
		throw new ServiceError('payload_too_large', `${param} is over 4.5 MB decoded.`, param);
	}
	if (!isBase64(base64)) throw badValue(param, `${param} is not valid base64.`);
}

function assertInput(input: unknown, name: string): void {
	if (!isObject(input)) throw badValue(name, `${name} must be an object.`);
	const type = requiredText(input, 'type', `${name}.type`);
	if (!inputTypes.includes(type)) {
		throw badValue(`${name}.type`, `${name}.type must be one of ${inputTypes.join(', ')}.`);
	}
	const value = requiredText(input, 'value', `${name}.value`);
	const source = requiredText(input, 'source', `${name}.source`);
	if (source === 'url') assertUrl(value, `${name}.value`, 'https');
	else if (source === 'data') assertInline(value, `${name}.value`);
	else throw badValue(`${name}.source`, `${name}.source must be url or data.`);
}

/** Checks the reference inputs of spec 4.1. Throws an error for the first invalid one. */
export function readInputs(inputs: unknown): unknown[] {
	if (isAbsent(inputs)) return [];
	if (!Array.isArray(inputs)) throw badValue('inputs', 'inputs must be an array.');
	inputs.forEach((input: unknown, index) => assertInput(input, `inputs[${index}]`));
	return inputs;
}
