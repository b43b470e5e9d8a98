/** Returns a parsed JSON value for reading its fields. Anything but an object or a list has none. */
export function asRecord(value: unknown): Record<string, unknown> {
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
