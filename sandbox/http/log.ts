import type { Delivery } from '../requests/reply';

/** What a line of the log is made of. */
export interface Logged {
	method: string;
	path: string;
	status: number;
	delivery: Delivery;
	happened: string;
	milliseconds: number;
}

export type LogLine = (logged: Logged) => void;

/** One readable line a request: time, method, path, status, what happened, milliseconds. */
export function formatLine(logged: Logged, now: Date): string {
	const time = now.toTimeString().slice(0, 8);
	const status = logged.delivery === 'answer' ? String(logged.status) : '---';
	const method = logged.method.padEnd(4);
	const spent = `${logged.milliseconds.toFixed(0)} ms`;
	return [time, method, logged.path, status, logged.happened, spent].filter(Boolean).join('  ');
}
