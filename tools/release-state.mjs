import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root, run, runNpm } from './run.mjs';

/**
 * Checks of the repository before a release. Each check returns a list of problems: sentences that say what is wrong
 * and what to do. If the list is empty, the check has passed.
 */

/** The branch of releases. The provenance of the package refers to it. */
const releaseBranch = 'main';

/** @returns {{ name: string, version: string, repository: { url: string } }} */
export function readPackage() {
	return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

/** Returns the tag of a version. */
export function tagOf({ version }) {
	return `v${version}`;
}

async function git(...args) {
	const { code, stdout } = await run('git', args, { output: 'hide' });
	return { ok: code === 0, text: stdout.trim() };
}

/** Checks that the work tree is clean: the npm provenance names a commit, and n8n's scan reads that commit. */
export async function checkTree() {
	const { ok, text } = await git('status', '--porcelain');
	if (!ok) return ['This is not a git repository. Release from a clone of it.'];
	if (text === '') return [];
	const shown = text.split('\n').slice(0, 10).join('\n');
	return [`There are changes that are in no commit. Commit or stash them:\n${shown}`];
}

/** Checks, before tagging, that this is the release branch and that it is not behind its remote. */
export async function checkBranch() {
	const branch = (await git('rev-parse', '--abbrev-ref', 'HEAD')).text;
	if (branch !== releaseBranch) {
		return [`The branch is ${branch}. Release from ${releaseBranch}: git switch ${releaseBranch}`];
	}
	const behind = await git('rev-list', '--count', 'HEAD..@{upstream}');
	if (!behind.ok || behind.text === '0') return [];
	return [`${releaseBranch} lacks ${behind.text} commits of its upstream: git pull --ff-only`];
}

/** Checks, before tagging, that the tag is free here and, if it can be reached, in the remote repository. */
export async function checkTagIsFree(pkg) {
	const tag = tagOf(pkg);
	const taken = `${tag} is tagged already. Choose the next version: npm version --no-git-tag-version <version>`;
	if ((await git('rev-parse', '--verify', '--quiet', `refs/tags/${tag}`)).ok) return [taken];
	if ((await git('ls-remote', '--exit-code', 'origin', `refs/tags/${tag}`)).ok) return [taken];
	return [];
}

/** Checks, after tagging and before publishing, that the tag is for this commit and this version. */
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
 * Checks that the version is a plain one. A prerelease would need an npm dist-tag, and n8n does not install it.
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

/** Returns the lines of CHANGELOG.md under each second-level heading, by the text in the heading's brackets. */
function changelogSections() {
	const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
	const parts = text.split(/^## /m).slice(1);
	return parts.map((part) => {
		const [heading, ...lines] = part.split('\n');
		const [, name, note = ''] = /^\[([^\]]+)\](?: - (.*))?$/.exec(heading.trim()) ?? [];
		return { name, note, body: lines.join('\n').trim() };
	});
}

/** Checks that the changes are listed under the version, with its date, and that [Unreleased] is empty. */
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

/** Checks the repository in package.json. npm rejects a provenance that names a different one. */
export async function checkRepository({ repository }) {
	const stated = githubName(repository?.url);
	if (!stated) return ['package.json: "repository" has to name the public GitHub repository.'];
	const here =
		process.env.GITHUB_REPOSITORY ?? githubName((await git('remote', 'get-url', 'origin')).text);
	if (!here || here === stated) return [];
	return [`package.json names the repository ${stated}, but this is ${here}. Correct one of them.`];
}

/**
 * @returns {Promise<{ problems: string[], note?: string }>} an unreachable registry is not a problem
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
