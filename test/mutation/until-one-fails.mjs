import { TestEnvironment } from 'jest-environment-node';

/** Skips the remaining tests of a file after the first failure: one failing test is enough to detect a change. */
export default class UntilOneFails extends TestEnvironment {
	noticed = false;

	async handleTestEvent(event) {
		if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.noticed = true;
		if (event.name === 'test_start' && this.noticed) event.test.mode = 'skip';
	}
}
