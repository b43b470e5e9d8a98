import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root, run, runNpm } from './run.mjs';

/**
 * What has to be true of the repository before a release. Each check returns its problems: sentences
 * that say what is wrong, and what to do. An empty list is a pass.
 */

/** Releases come from here, and the provenance of the package points here. */
const releaseBranch = 'main';

/** @returns {{ name: string, version: string, repository: { url: string } }} */
export function readPackage() {
	return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

/** The tag of a version. */
export function tagOf({ version }) {
	return `v${version}`;
}

async function git(...args) {
	const { code, stdout } = await run('git', args, { output: 'hide' });
	return { ok: code === 0, text: stdout.trim() };
}

/** Everything that is published is in a commit: the provenance names one, and n8n's scan reads it. */
export async function checkTree() {
	const { ok, text } = await git('status', '--porcelain');
	if (!ok) return ['This is not a git repository. Release from a clone of it.'];
	if (text === '') return [];
	const shown = text.split('\n').slice(0, 10).join('\n');
	return [`There are changes that are in no commit. Commit or stash them:\n${shown}`];
}

/** Before the tag is set: on the release branch, which is not behind the repository it came from. */
export async function checkBranch() {
	const branch = (await git('rev-parse', '--abbrev-ref', 'HEAD')).text;
	if (branch !== releaseBranch) {
		return [`The branch is ${branch}. Release from ${releaseBranch}: git switch ${releaseBranch}`];
	}
	const behind = await git('rev-list', '--count', 'HEAD..@{upstream}');
	if (!behind.ok || behind.text === '0') return [];
	return [`${releaseBranch} lacks ${behind.text} commits of its upstream: git pull --ff-only`];
}

/** Before the tag is set: it is still free, here and, where it can be asked, in the repository. */
export async function checkTagIsFree(pkg) {
	const tag = tagOf(pkg);
	const taken = `${tag} is tagged already. Choose the next version: npm version --no-git-tag-version <version>`;
	if ((await git('rev-parse', '--verify', '--quiet', `refs/tags/${tag}`)).ok) return [taken];
	if ((await git('ls-remote', '--exit-code', 'origin', `refs/tags/${tag}`)).ok) return [taken];
	return [];
}

/** After the tag is set, where it is about to be published: it is this commit and this version. */
export async function checkTag(pkg, tag) {
	const problems = [];
	if (tag !== tagOf(pkg)) {
		problems.push(
			`The tag ${tag} is not the version in package.json, ${pkg.version}. Delete the tag, and set ${tagOf(pkg)}.`,
		);
	}
	const [tagged, head] = await Promise.all([
		git('rev-parse', '--verify', `refs/tags/${tag}^{commit}`),
		git('rev-parse', 'HEAD'),
	]);
	if (!tagged.ok || tagged.text !== head.text) {
		problems.push(`The tag ${tag} is not on this commit. Check it out: git switch --detach ${tag}`);
	}
	const branch = `origin/${releaseBranch}`;
	if (!(await git('merge-base', '--is-ancestor', 'HEAD', branch)).ok) {
		problems.push(
			`The tag ${tag} is not on ${releaseBranch}. Merge its commit first, then tag that.`,
		);
	}
	return problems;
}

/**
 * Releases are plain versions: npm would need a dist-tag for a prerelease, and n8n installs none.
 */
export function checkVersion({ version }) {
	const problems = [];
	if (!/^\d+\.\d+\.\d+$/.test(version)) {
		problems.push(
			`${version} is not of the form 1.2.3: npm version --no-git-tag-version <version>`,
		);
	}
	const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
	if (lock.version !== version || lock.packages[''].version !== version) {
		problems.push(
			`package-lock.json says ${lock.version}, package.json ${version}: npx npm@10 install --package-lock-only`,
		);
	}
	return problems;
}

/** The lines of CHANGELOG.md under each heading of the second level, by what stands in its brackets. */
function changelogSections() {
	const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
	const parts = text.split(/^## /m).slice(1);
	return parts.map((part) => {
		const [heading, ...lines] = part.split('\n');
		const [, name, note = ''] = /^\[([^\]]+)\](?: - (.*))?$/.exec(heading.trim()) ?? [];
		return { name, note, body: lines.join('\n').trim() };
	});
}

/** What is new stands under the version, with its date, and nothing is left under [Unreleased]. */
export function checkChangelog({ version }) {
	const sections = changelogSections();
	const problems = [];
	const unreleased = sections.find(({ name }) => name === 'Unreleased');
	if (unreleased?.body) {
		problems.push(`CHANGELOG.md: move what stands under [Unreleased] to [${version}].`);
	}
	const [latest] = sections.filter(({ name }) => name !== 'Unreleased');
	if (latest?.name !== version) {
		return [...problems, `CHANGELOG.md: the topmost version is to be [${version}]. Write it.`];
	}
	if (!/^\d{4}-\d{2}-\d{2}$/.test(latest.note)) {
		const today = new Date().toISOString().slice(0, 10);
		problems.push(`CHANGELOG.md: give the version its date: ## [${version}] - ${today}`);
	}
	if (latest.body === '') problems.push(`CHANGELOG.md: say what is new in [${version}].`);
	return problems;
}

function githubName(url) {
	return /github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?$/.exec(url ?? '')?.[1];
}

/** npm refuses a provenance that names another repository than package.json does. */
export async function checkRepository({ repository }) {
	const stated = githubName(repository?.url);
	if (!stated) return ['package.json: "repository" has to name the public GitHub repository.'];
	const here =
		process.env.GITHUB_REPOSITORY ?? githubName((await git('remote', 'get-url', 'origin')).text);
	if (!here || here === stated) return [];
	return [`package.json names the repository ${stated}, but this is ${here}. Correct one of them.`];
}

/**
 * @returns {Promise<{ problems: string[], note?: string }>} a registry that cannot be asked is no problem
 */
export async function checkUnpublished({ name, version }) {
	const args = ['view', name, 'versions', '--json'];
	const { code, stdout, stderr } = await runNpm(args, { output: 'hide' });
	if (code !== 0) {
		const first = /E404/.test(stderr + stdout);
		const note = first ? `${name} is not on npm yet` : 'npm could not be asked';
		return { problems: [], note };
	}
	const published = [JSON.parse(stdout)].flat();
	if (!published.includes(version)) return { problems: [] };
	return {
		problems: [`${version} is on npm already, and npm never takes one twice. Raise the version.`],
	};
}
