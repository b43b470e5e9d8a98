/** A transform of Jest for packages: Node.js loads them, once in a process, and all test files share them. */
module.exports = {
	process: () => ({ code: 'module.exports = requireOnce(__filename);' }),
	getCacheKey: () => 'loaded-once',
};
