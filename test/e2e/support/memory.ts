import { execFileSync } from 'node:child_process';

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
	const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
	return Math.round(Number(kilobytes) / 1024);
}
