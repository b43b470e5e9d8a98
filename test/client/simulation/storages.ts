import type { ProbeResponse } from '../../../client/ports';

/** Returns a storage's response to a probe for an output's first byte, depending on whether the output is written. */
export type Storage = (written: boolean, url: string) => ProbeResponse | Error;

const missing = { status: 404, oneByte: false };
const firstByte = { status: 206, oneByte: true };

/** Behaviors of storages and of caches in front of them. Each step gets a new one. */
export const storages = {
	honest: () => (written) => (written ? firstByte : missing),
	/** A cache that remembers its 404 responses. */
	remembering: () => {
		const denied = new Set<string>();
		return (written, url) => {
			if (written && !denied.has(url)) return firstByte;
			denied.add(url);
			return missing;
		};
	},
	/** Ignores the range and returns the whole file. */
	wholesale: () => (written) => (written ? { status: 200, oneByte: false } : missing),
	/** Returns a placeholder from the beginning. */
	placeholder: () => () => firstByte,
	unreachable: () => () => new Error('connect ECONNREFUSED'),
} satisfies Record<string, () => Storage>;

export type StorageName = keyof typeof storages | 'hanging';
export const storageNames = [...(Object.keys(storages) as StorageName[]), 'hanging'] as const;
