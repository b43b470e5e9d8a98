import type { Delivery } from '../requests/reply';

/** The values in a line of the log. */
interface Logged {
	method: string;
	path: string;
	status: number;
	delivery: Delivery;
	happened: string;
	milliseconds: number;
}

export type LogLine = (logged: Logged) => void;

/** Formats one line per request: time, method, path, status, outcome, milliseconds. */
export function formatLine(logged: Logged, now: Date): string {
	const time = now.toTimeString().slice(0, 8);
	const status = logged.delivery === 'answer' ? String(logged.status) : '---';
	const method = logged.method.padEnd(4);
	const spent = `${logged.milliseconds.toFixed(0)} ms`;
	const line = [time, method, logged.path, status, logged.happened, spent]
		.filter(Boolean)
		.join('  ');
	// What happened can contain texts of the client, which must not begin a line or steer a terminal.
	return line.replace(/\p{Cc}+/gu, ' ');
}
