import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
import { Container, InstanceSettingsConfig, Logger } from './core';
import type { LogBook } from './logging';

/** Where binary data is stored: n8n's file storage, or base64 inside the items (n8n's `default` mode). */
export type BinaryMode = 'filesystem' | 'memory';

/** n8n's services, set up for one engine. */
interface Services {
	binaryData: BinaryDataService;
	/** Resets n8n's services and removes the temporary folder. */
	close: () => Promise<void>;
}

// n8n keeps its services in one container per process. Two engines at the same time would share a storage and a log,
// so the second one is rejected.
let isOpen = false;

/**
 * Sets up n8n's service container in a separate folder, never in the user's `~/.n8n`.
 * Throws if another engine of this process is still open.
 */
export async function openServices(settings: {
	binaryMode: BinaryMode;
	storageDir?: string;
	log: LogBook;
}): Promise<Services> {
	if (isOpen) throw new Error('Another engine is open in this process: close it first');
	isOpen = true;
	const folder = await mkdtemp(join(tmpdir(), 'n8n-engine-'));
	Container.reset();
	settings.log.install();
	Container.set<unknown>(Logger, settings.log);
	Container.set(InstanceSettingsConfig, instanceSettings(folder));
	const binaryData = await openBinaryData(settings.binaryMode, settings.storageDir ?? folder);
	const close = async () => {
		Container.reset();
		isOpen = false;
		await rm(folder, { recursive: true, force: true });
	};
	return { binaryData, close };
}

function instanceSettings(folder: string) {
	return Object.assign(new InstanceSettingsConfig(), {
		n8nFolder: folder,
		userHome: folder,
		encryptionKey: 'engine-host',
		enforceSettingsFilePermissions: false,
	});
}

async function openBinaryData(mode: BinaryMode, folder: string): Promise<BinaryDataService> {
	const config = Container.get(BinaryDataConfig);
	config.mode = mode === 'memory' ? 'default' : 'filesystem';
	config.localStoragePath = join(folder, 'binaryData');
	const service = Container.get(BinaryDataService);
	await service.init();
	return service;
}
