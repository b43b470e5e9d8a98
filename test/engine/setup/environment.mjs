/**
 * The environment of the engine tests: packages are loaded once in a process, instead of n8n's 2,000 modules again for
 * each test file (`loaded-once.js`). Our own code is loaded for each file as ever.
 *
 * Jest gives each test file a realm of its own, with its own `Error`. n8n lives outside of it, and would not know an
 * error of ours as one (`instanceof`). So both see the same classes.
 */
import Module, { createRequire } from 'node:module';
import { TestEnvironment } from 'jest-environment-node';

const requireOnce = createRequire(import.meta.url);

/** Classes that have no literal: the realm uses those of n8n. */
const shared = [
	'Error',
	'AggregateError',
	'EvalError',
	'RangeError',
	'ReferenceError',
	'SyntaxError',
	'TypeError',
	'URIError',
	'Date',
	'Map',
	'Set',
];
/** Instances come from literals and async functions, too: those of the realm are instances of n8n's classes as well. */
const derived = [...shared, 'Array', 'Promise', 'RegExp', 'Function'];

/** Loads a file of ours for the current test file. */
let requireOurs;

// n8n's loader of packages requires the nodes itself.
Module._extensions['.ts'] = (module, file) => {
	module.exports = requireOurs(file);
	delete requireOnce.cache[file];
};

export default class EngineEnvironment extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		this.before = new Set(process.listeners('exit'));
		const { global: realm } = this;
		for (const name of derived) {
			Object.setPrototypeOf(realm[name].prototype, globalThis[name].prototype);
		}
		for (const name of shared) realm[name] = globalThis[name];
		// Such as the proxy that n8n is to go by.
		realm.process.env = process.env;
		realm.requireOnce = requireOnce;
		realm.loadOursWith = (load) => (requireOurs = load);
	}

	async setup() {
		await super.setup();
		// Here, so that the time it takes does not count as that of the first test file.
		requireOnce('n8n-core');
	}

	async teardown() {
		// Otherwise mocks of n8n in one test file would still be there in the next one.
		this.moduleMocker.restoreAllMocks();
		// n8n's services listen to the end of the process, and are made anew for each engine.
		for (const listener of process.listeners('exit')) {
			if (!this.before.has(listener)) process.off('exit', listener);
		}
		await super.teardown();
	}
}
