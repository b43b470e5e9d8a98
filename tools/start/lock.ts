import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Trouble } from '../trouble';
import { isRunning } from '../is-running';

/**
 * Keeps a second n8n from the data of one that runs: it would damage them. By process ids, and not by a file that
 * grows old, as libraries do it: n8n may outlive whoever has started it.
 */
export class DataLock {
	private readonly file: string;

	/** Throws `Trouble` where one of its processes still runs. */
	constructor(folder: string) {
		this.file = join(folder, 'running.json');
		mkdirSync(folder, { recursive: true });
		// Where process ids are given anew from the beginning, as in a container, our own may be noted from last time.
		const pid = this.pids().find((one) => one !== process.pid && isRunning(one));
		if (pid !== undefined) {
			throw new Trouble(
				`n8n already runs with the data in ${folder} (process ${pid}, says ${this.file}). End it, or ` +
					'choose another folder with --data.',
			);
		}
		this.add(process.pid);
	}

	/** Notes one more process that works with the data. */
	add(pid: number): void {
		writeFileSync(this.file, JSON.stringify([...this.pids().filter(isRunning), pid]));
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
