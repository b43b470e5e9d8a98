import type { Failure } from './generations';

/** Instructions to the sandbox, in square brackets in a prompt (sandbox/README.md). */
export interface Directives {
	/** The generation fails for this reason. */
	fail?: Failure;
	/** The generation ends in this state, which the spec does not name. It has no output and is not refunded. */
	end?: string;
	/** The generation is completed without an output URL, for this reason. */
	withoutUrl?: { reason: string | null };
	/** Number of entries in `data`. */
	outputs?: number;
	/** Generation time in seconds, before the time scale. */
	seconds?: number;
	/** Minimum size of the output file in bytes. */
	bytes?: number;
	/** The create request is rejected with this code, always or `times` times. */
	reject?: { code: string; times: number };
	/** The prompt without its directives. */
	plain: string;
}

const units: Readonly<Record<string, number>> = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };

/** A file is padded to this size at most. Larger numbers could not be written into the headers of a video. */
const largestFile = 4 * units.GB - 1;

/**
 * Every text that can be a directive. It never reads past the next bracket, so that its time grows only with the length
 * of the prompt: a prompt of a few kilobytes must not stop the sandbox.
 */
const anyPattern = /\[([a-z-]+)(?::([^\][]*))?\]/gi;

/** What users can write into a prompt, for the page of the sandbox. */
export const directiveHelp: ReadonlyArray<[written: string, effect: string]> = [
	['[fail]', 'fails, and is refunded'],
	['[fail: no paint]', 'fails for this reason'],
	['[refuse: content_filtered]', 'fails with this code, as content that is refused'],
	['[end: cancelled]', 'ends in a state that the specification does not name'],
	['[no-url]', 'is completed without a file'],
	['[reject: insufficient_credits]', 'the request is rejected with this code'],
	['[reject: service_unavailable 2]', 'the first two requests are rejected'],
	['[seconds: 90]', 'takes 90 seconds'],
	['[size: 50 MB]', 'the file has at least this size'],
];

/** The default reason of a failed generation. */
export const defaultReason = 'The model provider could not make this output.';

/** Reads the text after the colon, without surrounding blanks. Returns null if it is not valid. */
type Reader = (text: string) => Omit<Directives, 'plain'> | null;

function failAs(asText: boolean): Reader {
	return (text) => ({ fail: { reason: text || defaultReason, asText } });
}

/** Returns a reader of texts that match a pattern. */
function matching(
	pattern: RegExp,
	read: (found: RegExpExecArray) => Omit<Directives, 'plain'>,
): Reader {
	return (text) => {
		const found = pattern.exec(text);
		return found && read(found);
	};
}

const readers: ReadonlyMap<string, Reader> = new Map([
	['fail', failAs(false)],
	['fail-text', failAs(true)],
	[
		'refuse',
		matching(/^([\w.-]+)(?:\s+([^]*))?$/, ([, code, reason]) => ({
			fail: { reason: reason || defaultReason, asText: false, code },
		})),
	],
	['end', matching(/^[\w -]+$/, ([end]) => ({ end }))],
	['no-url', (text) => ({ withoutUrl: { reason: text || null } })],
	['outputs', matching(/^\d{1,2}$/, ([count]) => ({ outputs: Number(count) }))],
	['seconds', matching(/^\d+(?:\.\d+)?$/, ([seconds]) => ({ seconds: Number(seconds) }))],
	[
		'size',
		matching(/^(\d+(?:\.\d+)?)\s*(KB|MB|GB)$/i, ([, count, unit]) => ({
			bytes: Math.min(Math.round(Number(count) * units[unit.toUpperCase()]), largestFile),
		})),
	],
	[
		'reject',
		matching(/^(\w+)(?:\s+(\d+))?$/, ([, code, times]) => ({
			reject: { code, times: times ? Number(times) : Infinity },
		})),
	],
]);

/** Reads the directives of a prompt. All other text remains part of the prompt. */
export function readDirectives(prompt: string): Directives {
	// Fast path: most prompts have none, and property tests create thousands per second.
	if (!prompt.includes('[')) return { plain: prompt };
	const read: Omit<Directives, 'plain'> = {};
	const rest = prompt.replace(anyPattern, (written, name: string, text?: string) => {
		const found = readers.get(name.toLowerCase())?.((text ?? '').trim());
		if (!found) return written;
		// The first of its kind applies. A refusal is a more specific failure.
		Object.assign(read, found.fail?.code && !read.fail?.code ? found : { ...found, ...read });
		return ' ';
	});
	return { ...read, plain: rest.replace(/\s+/g, ' ').trim() };
}
