/** Prints progress: a line when a node starts or ends, and when a generation changes. */
import type { BookEntry, Books } from '../../sandbox/books/books';
import type { LogLine } from '../engine';

const watchInterval = 50;

/** Prints each line with the seconds since the start and, in a column, the node or service that it is about. */
export class Timeline {
	private readonly begun = performance.now();
	private readonly startedAt = new Map<string, number>();

	/** Takes a function that prints lines, and the names of the nodes. The longest name sets the column width. */
	constructor(
		private readonly say: (line: string) => void,
		private readonly nodes: string[],
		private readonly stop: AbortSignal,
	) {}

	/** Receives n8n's log lines, and prints those for the start and end of a node. */
	readonly log = ({ message, metadata }: LogLine): void => {
		const node = nodeIn(metadata);
		if (node === null || !message.startsWith(`Running node "${node}" `)) return;
		const now = performance.now();
		if (message.endsWith(' started')) {
			this.startedAt.set(node, now);
			this.line(node, 'starts');
			return;
		}
		const spent = seconds(now - (this.startedAt.get(node) ?? now));
		this.line(node, `${this.endOf(message)} ${spent}`);
	};

	/** Watches the service's books until the returned function is called. */
	watch(books: Books): () => void {
		const states = new Map<string, BookEntry['state']>();
		const look = (): void => {
			for (const entry of books.generations) {
				if (states.get(entry.id) === entry.state) continue;
				const isNew = !states.has(entry.id);
				states.set(entry.id, entry.state);
				if (isNew) this.line('', `service: ${entry.charged} credits charged for ${nameOf(entry)}`);
				if (entry.state !== 'pending') this.line('', `service: ${changeOf(entry)}`);
			}
		};
		const timer = setInterval(look, watchInterval);
		return () => {
			clearInterval(timer);
			look();
		};
	}

	private endOf(message: string): string {
		if (this.stop.aborted) return 'stopped after';
		return message.endsWith(' successfully') ? 'done in' : 'FAILED after';
	}

	private line(who: string, what: string): void {
		const width = Math.max(...this.nodes.map(({ length }) => length));
		const time = seconds(performance.now() - this.begun).padStart(8);
		this.say(`${time}  ${who.padEnd(width)}  ${what}`);
	}
}

/** Formats a duration, such as `4.2 s`. */
export function seconds(milliseconds: number): string {
	return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Returns the user-facing name of a generation's output. */
export function kindOf({ type }: { type: 'image' | 'video' }): string {
	return type === 'image' ? 'picture' : 'video';
}

function nameOf(entry: BookEntry): string {
	return `a ${kindOf(entry)} by ${entry.model}`;
}

function changeOf(entry: BookEntry): string {
	switch (entry.state) {
		case 'completed':
			return `the ${kindOf(entry)} is ready`;
		case 'failed':
			return `the ${kindOf(entry)} failed, ${entry.refunded} credits refunded`;
		default:
			return `the ${kindOf(entry)} is ${entry.state}`;
	}
}

function nodeIn(metadata: unknown): string | null {
	if (typeof metadata !== 'object' || metadata === null || !('node' in metadata)) return null;
	return typeof metadata.node === 'string' ? metadata.node : null;
}
