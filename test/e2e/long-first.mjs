import Sequencer from '@jest/test-sequencer';

/** These take minutes each, mostly waiting for n8n. */
const long = [
	'sleeping-batch.security',
	'sleeping-batch',
	'sleeping-batch.queue',
	'sleeping-batch.loop',
	'crash',
	'suspend',
	'queue',
];

function rankOf({ path }) {
	const rank = long.findIndex((name) => path.endsWith(`/${name}.test.ts`));
	return rank < 0 ? long.length : rank;
}

/** Starts the longest files first, so that none of them runs alone at the end. */
export default class LongFirst extends Sequencer {
	sort(tests) {
		return super.sort(tests).sort((one, other) => rankOf(one) - rankOf(other));
	}
}
