import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What is to be measured of a process alone runs in one of its own, which is told its task as JSON and answers likewise. */

const run = promisify(execFile);

/**
 * Runs a file of this folder.
 *
 * @param node options of Node.js
 * @param env settings beside those of this process
 * @returns what the worker has found
 * @throws where it fails
 */
export async function runWorker<Report>(
	file: string,
	task: object,
	{ node = [], env = {} }: { node?: string[]; env?: Record<string, string> } = {},
): Promise<Report> {
	const args = [...node, '--import', 'tsx', join(__dirname, file), JSON.stringify(task)];
	const { stdout } = await run(process.execPath, args, {
		cwd: join(__dirname, '..'),
		env: { ...process.env, ...env },
	});
	// What else is printed stands before.
	return JSON.parse(stdout.trim().split('\n').pop() ?? '') as Report;
}

/** The other side: does the task that this process was started with, and tells what it has found. */
export function serve<Task, Report>(work: (task: Task) => Promise<Report>): void {
	work(JSON.parse(process.argv[2]) as Task).then(
		(report) => process.stdout.write(`${JSON.stringify(report)}\n`),
		(error: unknown) => {
			console.error(error);
			process.exitCode = 1;
		},
	);
}
