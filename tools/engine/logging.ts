import { LoggerProxy } from 'n8n-workflow';
import type { LogMetadata } from 'n8n-workflow';

/** One log line of n8n or a node. `console` is a line that a node prints to the browser's console. */
export interface LogLine {
	level: 'error' | 'warn' | 'info' | 'debug' | 'console';
	message: string;
	metadata?: unknown;
}

/** Replaces n8n's logger. It prints nothing and keeps every line for tests. */
export class LogBook {
	readonly lines: LogLine[] = [];

	/** Takes an optional listener that is called with every line as it is written. */
	constructor(private readonly listener?: (line: LogLine) => void) {}

	/** Sets this as the logger of n8n-workflow, which has its own. */
	install(): void {
		LoggerProxy.init(this);
	}

	/** Adds a line. */
	write(line: LogLine): void {
		this.lines.push(line);
		this.listener?.(line);
	}

	error = (message: string, metadata?: LogMetadata) => this.line('error', message, metadata);
	warn = (message: string, metadata?: LogMetadata) => this.line('warn', message, metadata);
	info = (message: string, metadata?: LogMetadata) => this.line('info', message, metadata);
	debug = (message: string, metadata?: LogMetadata) => this.line('debug', message, metadata);

	/** n8n's loggers can be scoped to a topic. Here, all topics share one log. */
	scoped = (): this => this;

	private line(level: LogLine['level'], message: string, metadata?: LogMetadata): void {
		this.write({ level, message, ...(metadata && { metadata }) });
	}
}
