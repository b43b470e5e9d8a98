import { LoggerProxy } from 'n8n-workflow';
import type { LogMetadata } from 'n8n-workflow';

/** One line that n8n or a node has written. `console` is what a node shows in the browser's console. */
export interface LogLine {
	level: 'error' | 'warn' | 'info' | 'debug' | 'console';
	message: string;
	metadata?: unknown;
}

/** Stands in for n8n's logger: silent, and keeps every line for tests. */
export class LogBook {
	readonly lines: LogLine[] = [];

	/** Takes an optional listener that is called with every line as it is written. */
	constructor(private readonly listener?: (line: LogLine) => void) {}

	/** Makes this the logger of n8n-workflow, which keeps its own. */
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

	/** n8n's loggers can be narrowed to a topic; here all topics share one book. */
	scoped = (): this => this;

	private line(level: LogLine['level'], message: string, metadata?: LogMetadata): void {
		this.write({ level, message, ...(metadata && { metadata }) });
	}
}
