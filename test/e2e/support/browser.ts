import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, selectors } from 'playwright-core';
import type { Browser, Locator, Page } from 'playwright-core';
import type { Owner } from '../../../tools/n8n/rest';
import { programs, repository } from './surroundings';
import { until } from './until';
import { isLoaded, showMidpoint, sizeOfPicture } from './viewed-media';

/** Headless, also in a container, and without telemetry to the browser's vendor. */
const flags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	// Pages may name other hosts. Intercepting their requests instead would turn off the browser's cache.
	'--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1',
];

/** Only ends a wait that would never end. */
const patienceMs = 300_000;

selectors.setTestIdAttribute('data-test-id');

/** n8n's editor in a real browser, with a signed-in user. */
export class Editor {
	private constructor(
		private readonly browser: Browser,
		readonly page: Page,
		private readonly url: string,
		private readonly shots: string,
	) {}

	/**
	 * @param url address of n8n
	 * @param shots folder for screenshots
	 */
	static async open(url: string, owner: Owner, shots: string): Promise<Editor> {
		const browser = await chromium.launch({ executablePath: programs().chromium, args: flags });
		try {
			const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
			// Also for the windows that n8n opens.
			context.setDefaultTimeout(patienceMs);
			const page = await context.newPage();
			const editor = new Editor(browser, page, url, shots);
			await editor.signIn(owner);
			return editor;
		} catch (error) {
			await browser.close();
			throw error;
		}
	}

	private async signIn({ email, password }: Owner): Promise<void> {
		await this.page.goto(`${this.url}/signin`);
		await this.page.getByLabel('Email').fill(email);
		await this.page.getByLabel('Password').fill(password);
		await this.page.getByRole('button', { name: 'Sign in' }).click();
		await this.page.waitForURL((to) => !to.pathname.startsWith('/signin'));
		await this.page.waitForLoadState('networkidle');
	}

	/** Opens a workflow, or a new one, and waits until it is usable. */
	async openWorkflow(id = 'new'): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${id}`);
		await this.part('canvas-controls').waitFor();
		await this.page.waitForLoadState('networkidle');
	}

	/** Returns a part of the editor by its test ID in n8n's own tests. */
	part(name: string): Locator {
		return this.page.getByTestId(name);
	}

	/** Types words into the node panel and returns the names of the nodes it finds, in order. */
	async search(words: string): Promise<string[]> {
		const bar = this.part('node-creator-search-bar');
		if (!(await bar.isVisible())) {
			await this.part('node-creator-plus-button')
				.or(this.part('canvas-plus-button'))
				.first()
				.click();
		}
		// n8n shows the start of the panel at once, and the result for words after a pause.
		await bar.fill('');
		const start = (await this.foundNames()).join();
		await bar.fill(words);
		await until(
			`the node panel shows the result for "${words}"`,
			async () => (await this.foundNames()).join() !== start,
		);
		return await this.foundNames();
	}

	/** Returns the names in the node panel when all are there. n8n adds those of a long list frame by frame. */
	private async foundNames(): Promise<string[]> {
		const twoFrames =
			'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
		for (let before = ''; ; ) {
			await this.page.evaluate(twoFrames);
			const names = await this.part('node-creator-item-name').allInnerTexts();
			if (names.join() === before) return names;
			before = names.join();
		}
	}

	/** Finds a node in the panel by search words and name, adds it, and opens it. Some nodes have several actions. */
	async add(words: string, name: string, action?: string): Promise<void> {
		await this.search(words);
		await this.part('node-creator-item-name').getByText(name, { exact: true }).click();
		const found = action
			? this.part('node-creator-item-name').getByText(action, { exact: true })
			: this.page.getByRole('button', { name: 'Add to workflow' });
		await found.click();
		await this.part('ndv').waitFor();
	}

	/** Opens a node of the workflow. */
	async openNode(name: string): Promise<void> {
		await this.node(name).dblclick();
		await this.part('ndv').waitFor();
	}

	async closeNode(): Promise<void> {
		await this.part('ndv-close-button').click();
		await this.part('ndv').waitFor({ state: 'hidden' });
	}

	/** Returns a node on the canvas, with the caption under its icon. */
	node(name: string): Locator {
		return this.page.locator(`[data-test-id=canvas-node][data-node-name="${name}"]`);
	}

	/** Returns a field of the open form by the name of its parameter. */
	field(name: string): Locator {
		return this.part(`parameter-input-${name}`);
	}

	/** Adds entries to one of the two collections of the open node, by their labels. */
	async addTo(collection: 'Option' | 'Run Option', ...labels: string[]): Promise<void> {
		const button = this.part('ndv').getByPlaceholder(`Add ${collection}`);
		for (const label of labels) {
			await button.scrollIntoViewIfNeeded();
			await button.click();
			await this.page.getByRole('option', { name: label, exact: true }).click();
		}
	}

	/** Chooses an entry of a list by the beginning of its text, because a description may follow. */
	async choose(field: string, label: RegExp): Promise<void> {
		// n8n disables a list while it loads the entries, and a click on it then does nothing.
		await this.field(field).locator('input:enabled').first().waitFor();
		await this.field(field).click();
		await this.page.getByRole('option', { name: label }).click();
	}

	/** Types an expression into a text field. The "=" turns the field into an expression editor. */
	async enterExpression(field: string, expression: string): Promise<void> {
		await this.field(field).locator('input').fill('=');
		await this.field(field).locator('.cm-content').click();
		await this.page.keyboard.insertText(expression);
	}

	/** Opens the list of models of the open node. */
	async openModels(): Promise<Locator> {
		// Closing a notification later would also close the list.
		await this.closeNotices();
		const input = this.part('rlc-input');
		const items = this.part('rlc-item');
		// While the form is still changing, n8n may close the list again at once.
		await until('the list of models is open', async () => {
			await input.blur();
			await input.click();
			return await items
				.first()
				.waitFor({ timeout: 15_000 })
				.then(
					() => true,
					() => false,
				);
		});
		return items;
	}

	/**
	 * Views the first picture of the output.
	 *
	 * @returns its width and height
	 */
	async viewPicture(): Promise<number[]> {
		const picture = await this.viewFile('img[src*="binary-data"]');
		return await picture.evaluate(sizeOfPicture);
	}

	/**
	 * Views the first video of the output at its midpoint.
	 *
	 * @returns its width, height and duration
	 */
	async viewVideo(): Promise<number[]> {
		const video = await this.viewFile('video');
		await until('the video is loaded', async () => await video.evaluate(isLoaded));
		return await video.evaluate(showMidpoint);
	}

	private async viewFile(selector: string): Promise<Locator> {
		const output = this.part('output-panel');
		await output.getByTestId('ndv-view-binary-data').first().click();
		const file = output.locator(selector);
		await file.waitFor();
		return file;
	}

	/** Runs the workflow and waits until this many nodes have succeeded. */
	async execute(nodes: number): Promise<void> {
		await this.part('execute-workflow-button').click();
		await this.part('canvas-node-status-success')
			.nth(nodes - 1)
			.waitFor();
	}

	/**
	 * Runs the workflow and waits for the error notification.
	 *
	 * @returns the text of the notification
	 */
	async executeToError(): Promise<string> {
		await this.part('execute-workflow-button').click();
		const notice = this.page.locator('.el-notification').filter({ hasText: 'Problem in node' });
		await notice.waitFor();
		return await notice.innerText();
	}

	/** Closes temporary overlays of n8n. */
	private async closeNotices(): Promise<void> {
		const buttons = this.page.locator('.el-notification__closeBtn');
		for (const button of await buttons.all())
			await button.click({ timeout: 1_000 }).catch(() => {});
		// A notification that is fading out would be clicked twice. One below a dialog cannot be closed.
		const notice = this.page.locator('.el-notification').first();
		await notice.waitFor({ state: 'hidden', timeout: 2_000 }).catch(() => {});
	}

	/**
	 * Takes a screenshot after all animations have ended.
	 *
	 * @param notices whether to include notifications
	 */
	async shoot(name: string, notices = false): Promise<void> {
		await this.settle(notices);
		await this.page.screenshot({ path: this.shotPath(name) });
	}

	/**
	 * Takes a screenshot of a part of the page for the README. MEDIA_SCREENSHOTS also writes it to docs/screenshots.
	 */
	async shootForReadme(name: string, part: Pick<Locator, 'screenshot'>): Promise<void> {
		await this.settle(false);
		await part.screenshot({ path: this.shotPath(name) });
		if (!process.env.MEDIA_SCREENSHOTS) return;
		const folder = join(repository, 'docs', 'screenshots');
		await copyFile(this.shotPath(name), join(folder, `${name}.png`));
	}

	private shotPath(name: string): string {
		return join(this.shots, `${name}.png`);
	}

	private async settle(notices: boolean): Promise<void> {
		if (!notices) await this.closeNotices();
		await this.page.mouse.move(0, 0);
		await this.page.waitForTimeout(400);
	}

	async close(): Promise<void> {
		await this.browser.close();
	}
}
