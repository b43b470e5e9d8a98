import type { Probed } from '../../../client/ports';

/** What a storage answers to the question for an output's first byte, by whether the output is written. */
export type Storage = (written: boolean, url: string) => Probed | Error;

const missing = { status: 404, oneByte: false };
const firstByte = { status: 206, oneByte: true };

/** How storages and what stands before them behave. Each is made anew for a step. */
export const storages = {
	honest: () => (written) => (written ? firstByte : missing),
	forbidding: () => (written) => (written ? firstByte : { status: 403, oneByte: false }),
	/** A cache that remembers what it has denied. */
	remembering: () => {
		const denied = new Set<string>();
		return (written, url) => {
			if (written && !denied.has(url)) return firstByte;
			denied.add(url);
			return missing;
		};
	},
	/** It ignores that only a byte was asked for. */
	wholesale: () => (written) => (written ? { status: 200, oneByte: false } : missing),
	/** It has something to show from the beginning. */
	placeholder: () => () => firstByte,
	redirecting: () => () => ({ status: 302, oneByte: false }),
	unreachable: () => () => new Error('connect ECONNREFUSED'),
} satisfies Record<string, () => Storage>;

export type StorageName = keyof typeof storages | 'hanging';
export const storageNames = [...(Object.keys(storages) as StorageName[]), 'hanging'] as const;
