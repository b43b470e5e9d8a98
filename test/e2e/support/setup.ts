import { rm } from 'node:fs/promises';
import { buildNodes, isBuilt } from '../../../tools/build';
import { packPackage } from '../../../tools/n8n/community-package';
import { ensureInstalled } from '../../../tools/n8n/installation';
import { ensurePrograms } from './programs';
import { openSharedN8n } from './shared-n8n';
import { outputFolder, provide, release, repository } from './surroundings';

/** What `teardown` ends. Jest runs both in the same process. */
export type Prepared = typeof globalThis & { endPrepared?: () => Promise<void> };

/**
 * Runs before all tests: installs n8n and the programs if they are missing, packs the package as for publishing, and
 * starts the n8n that test files share.
 */
export default async function setup(): Promise<void> {
	const isCurrent = release === 'current';
	const programs = isCurrent ? ensurePrograms() : undefined;
	const installation = await ensureInstalled(release);
	if (!(await isBuilt(repository))) {
		await buildNodes(repository, new AbortController().signal);
	}
	const target = outputFolder('package');
	await rm(target, { recursive: true, force: true });
	const tarball = await packPackage(repository, target);
	if (!isCurrent) return provide({ installation, tarball });
	const { close, ...shared } = await openSharedN8n(installation, tarball);
	(globalThis as Prepared).endPrepared = close;
	provide({ installation, tarball, programs, shared });
}
