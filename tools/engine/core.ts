/**
 * The dependencies of `n8n-core` that a host has to set up. They are resolved from n8n-core's own folder, because
 * several versions of `@n8n/di` can be installed and n8n-core uses only its own container.
 */
import { createRequire } from 'node:module';
import { parse, stringify } from '../flatted';

type Di = typeof import('@n8n/di');
type BackendCommon = typeof import('@n8n/backend-common');
type Config = typeof import('@n8n/config');

const requireOfCore = createRequire(require.resolve('n8n-core'));

/** The dependency container from which n8n-core gets its services. */
export const { Container } = requireOfCore('@n8n/di') as Di;

/** The token under which n8n-core finds its logger. */
export const { Logger } = requireOfCore('@n8n/backend-common') as BackendCommon;

/** The token that holds n8n's folders and its encryption key. */
export const { InstanceSettingsConfig } = requireOfCore('@n8n/config') as Config;

/**
 * Converts a value to n8n's database format and back, so that the result is what a real n8n would read: no class
 * instances, no non-enumerable properties, no `undefined`.
 */
export function throughDatabase<T>(value: T): T {
	return parse(stringify(value)) as T;
}
