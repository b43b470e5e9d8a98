// node --import ./conformance-on-node-20.mjs <the conformance suite>
// The suite imports `globSync`, which node:fs has from Node.js 22 on, for a command that the tests do not use.
import { register } from 'node:module';

const fs = `
export * from 'node:fs';
export function globSync() {
	throw new Error('This needs Node.js 22.');
}`;

const hooks = `
const fs = ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)};
export function resolve(specifier, context, next) {
	const isSuite = context.parentURL?.includes('/@modelcontextprotocol/conformance/');
	return isSuite && specifier === 'fs' ? { url: fs, shortCircuit: true } : next(specifier, context);
}`;

register(`data:text/javascript,${encodeURIComponent(hooks)}`);
