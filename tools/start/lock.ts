import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orTrouble, Trouble } from '../trouble';
import { isRunning } from '../is-running';

/**
 * Prevents two n8n processes from using the same data, which would damage it. It checks process ids instead of the age
 * of a file, as libraries do, because n8n may outlive the process that started it.
 */
export class DataLock {
	private readonly file: string;

	/** Throws `Trouble` if one of its processes is still running. */
	constructor(folder: string) {
		this.file = join(folder, 'running.json');
		orTrouble(folder, '--data', () => mkdirSync(folder, { recursive: true }));
		// In a container process ids start again, so the file may contain our own from an earlier run.
		const pid = this.pids().find((one) => one !== process.pid && isRunning(one));
		if (pid !== undefined) {
			throw new Trouble(
				`n8n already runs with the data in ${folder} (process ${pid}, see ${this.file}). End it, or ` +
					'choose another folder with --data.',
			);
		}
		this.add(process.pid);
	}

	/** Adds a process that uses the data. */
	add(pid: number): void {
		const pids = JSON.stringify([...this.pids().filter(isRunning), pid]);
		orTrouble(dirname(this.file), '--data', () => writeFileSync(this.file, pids));
	}

	release(): void {
		rmSync(this.file, { force: true });
	}

	private pids(): number[] {
		try {
			return JSON.parse(readFileSync(this.file, 'utf8')) as number[];
		} catch {
			return [];
		}
	}
}
