import { TestEnvironment } from 'jest-environment-node';

/** A change is noticed by the first test that fails: the others of its file are not run. */
export default class UntilOneFails extends TestEnvironment {
	noticed = false;

	async handleTestEvent(event) {
		if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.noticed = true;
		if (event.name === 'test_start' && this.noticed) event.test.mode = 'skip';
	}
}
