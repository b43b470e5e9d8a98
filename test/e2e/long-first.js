/** Jest's sequencer: the files that take minutes, mostly waiting for n8n, start first, so that none runs alone at the end. */
const long = ['crash', 'queue', 'sleeping-batch', 'start', 'browser', 'examples'];
const rankOf = ({ path }) => {
	const rank = long.findIndex((name) => path.endsWith(`/e2e/${name}.test.ts`));
	return rank < 0 ? long.length : rank;
};

module.exports = class LongFirst {
	sort(tests) {
		return [...tests].sort((one, other) => rankOf(one) - rankOf(other));
	}

	allFailedTests(tests) {
		return tests;
	}

	cacheResults() {}
};
