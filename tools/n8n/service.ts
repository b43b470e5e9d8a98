import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openLog } from '../open-log';

const windows = process.platform === 'win32';
const pollInterval = 50;
const keptCharacters = 100_000;

/** The options for starting a program. */
interface ServiceOptions {
	/** Its name in messages. */
	name: string;
	command: string;
	args: string[];
	/** The complete environment of the process. Nothing is inherited. */
	env: NodeJS.ProcessEnv;
	cwd?: string;
	/** File for the output of the process. */
	logFile: string;
	uid?: number;
	gid?: number;
}

/** Running programs. They end with this process. */
const running = new Set<Service>();

process.on('exit', () => {
	for (const service of running) service.signal('SIGKILL');
});

/** A background program in its own process group, so that it can be ended with all its child processes. */
export class Service {
	/** Settles when the program itself has ended. */
	readonly ended: Promise<void>;
	/** The end of its output. */
	output = '';
	/** How it ended, once it has. */
	exit: string | null = null;

	private constructor(
		readonly name: string,
		readonly pid: number,
		ended: Promise<string>,
	) {
		running.add(this);
		this.ended = ended.then((exit) => {
			this.exit = exit;
			// End any remaining processes of its group.
			this.signal('SIGKILL');
			running.delete(this);
		});
	}

	/** Starts a program. Throws if it cannot be started. */
	static async start(options: ServiceOptions): Promise<Service> {
		const { name, command, args, logFile, ...rest } = options;
		await mkdir(dirname(logFile), { recursive: true });
		const log = openLog(logFile);
		const child = spawn(command, args, {
			...rest,
			stdio: ['ignore', 'pipe', 'pipe'],
			detached: !windows,
		});
		const ended = new Promise<string>((resolve) => {
			child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
		});
		await new Promise<void>((resolve, reject) => {
			child.once('spawn', resolve);
			child.once('error', reject);
		});
		const service = new Service(name, child.pid as number, ended);
		const listen = (chunk: Buffer) => {
			service.output = (service.output + chunk.toString()).slice(-keptCharacters);
			log.write(chunk);
		};
		child.stdout.on('data', listen);
		child.stderr.on('data', listen);
		child.once('close', () => log.end());
		return service;
	}

	/** Waits until a check succeeds. Throws if the program ends first, on a timeout, or on abort. */
	async until(
		ready: () => Promise<boolean> | boolean,
		timeoutMs: number,
		signal?: AbortSignal,
	): Promise<void> {
		const deadline = Date.now() + timeoutMs;
		while (!(await ready())) {
			signal?.throwIfAborted();
			if (this.exit !== null) throw this.trouble(`ended with ${this.exit}`);
			if (Date.now() > deadline) throw this.trouble(`was not ready after ${timeoutMs / 1000} s`);
			await delay(pollInterval);
		}
	}

	/** Asks the program to end. After `patienceMs`, kills its whole process group. */
	async stop(patienceMs = 10_000, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
		if (this.exit !== null) return;
		try {
			process.kill(this.pid, signal);
		} catch {
			// It has already ended.
		}
		const hurry = setTimeout(() => this.signal('SIGKILL'), patienceMs);
		await this.ended;
		clearTimeout(hurry);
	}

	/** Sends a signal to the program and to all its child processes. */
	signal(name: NodeJS.Signals): void {
		try {
			process.kill(windows ? this.pid : -this.pid, name);
		} catch {
			// All its processes have ended.
		}
	}

	private trouble(what: string): Error {
		return new Error(`${this.name} ${what}.\n\n${this.output.trim().slice(-4000)}`);
	}
}
