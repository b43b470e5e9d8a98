import fc from 'fast-check';

import { InvalidInputError } from '../../nodes/shared/form/checks';

type Check = (field: string, value: unknown) => unknown;

/** Expects a check to reject a value with an error that names the field and says what to do. */
export function expectRefused(check: Check, value: unknown): void {
	let thrown: unknown;
	try {
		check('The Field', value);
	} catch (error) {
		thrown = error;
	}
	expect(thrown).toBeInstanceOf(InvalidInputError);
	const { message, description } = thrown as InvalidInputError;
	expect(message).toMatch(/^The Field/);
	expect(message.length).toBeLessThan(200);
	expect(description).not.toBe('');
}

/** Any value that an expression can evaluate to. */
export const anything = fc.oneof(
	fc.string(),
	fc.string({ unit: 'binary' }),
	fc.double(),
	fc.integer(),
	fc.constantFrom(null, undefined, true, false, NaN, Infinity, [], {}),
);

/** Returns the result of a check, or `undefined` if it rejects the value. Rethrows all other errors. */
export function accepted<T>(check: () => T): T | undefined {
	try {
		return check();
	} catch (error) {
		if (error instanceof InvalidInputError) return undefined;
		throw error;
	}
}
