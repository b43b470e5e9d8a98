import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Runs a program of this folder in a separate process and returns its report. Only the time and memory of that program
 * are measured.
 *
 * @param file name of the program, which calls `workAlone`
 * @param flags for Node.js
 * @param env added to the environment of this process
 */
export async function askWorker<Report>(
	file: string,
	task: object,
	{ flags = [], env = {} }: { flags?: string[]; env?: Record<string, string> } = {},
): Promise<Report> {
	const args = [...flags, '--import', 'tsx', join(__dirname, file), JSON.stringify(task)];
	const { stdout } = await promisify(execFile)(process.execPath, args, {
		cwd: join(__dirname, '..'),
		env: { ...process.env, ...env },
	});
	return JSON.parse(stdout.trim().split('\n').pop() ?? '') as Report;
}

/** The counterpart of `askWorker`: runs the task that this process was started with, and prints the report. */
export function workAlone<Task, Report>(work: (task: Task) => Promise<Report>): void {
	work(JSON.parse(process.argv[2]) as Task).then(
		(report) => process.stdout.write(`${JSON.stringify(report)}\n`),
		(error: unknown) => {
			console.error(error);
			process.exitCode = 1;
		},
	);
}
