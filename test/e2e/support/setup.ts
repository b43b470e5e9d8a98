import { rm } from 'node:fs/promises';
import { buildNodes } from '../../../tools/build';
import { packPackage } from '../../../tools/n8n/community-package';
import { ensureInstalled } from '../../../tools/n8n/installation';
import { ensurePrograms } from './programs';
import { outputFolder, provide, release, repository } from './surroundings';

/** Runs before all tests: installs n8n and the programs if they are missing, and packs the package as for publishing. */
export default async function setup(): Promise<void> {
	const programs = release === 'current' ? ensurePrograms() : undefined;
	const installation = await ensureInstalled(release);
	await buildNodes(repository, new AbortController().signal);
	const target = outputFolder('package');
	await rm(target, { recursive: true, force: true });
	provide({ installation, tarball: await packPackage(repository, target), programs });
}
