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
	/** The prompt as revised by the model. */
	revised?: string;
	/** The prompt without its directives. */
	plain: string;
}

const units: Readonly<Record<string, number>> = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };
const failPattern = /\[fail(-text)?(?::\s*([^\]]*))?\]/i;
const refusePattern = /\[refuse:\s*(\w+)(?:\s+([^\]]*))?\]/i;
const endPattern = /\[end:\s*([\w -]+?)\s*\]/i;
const noUrlPattern = /\[no-url(?::\s*([^\]]*))?\]/i;
const outputsPattern = /\[outputs:\s*(\d{1,2})\s*\]/i;
const secondsPattern = /\[seconds:\s*(\d+(?:\.\d+)?)\s*\]/i;
const sizePattern = /\[size:\s*(\d+(?:\.\d+)?)\s*(KB|MB|GB)\s*\]/i;
const rejectPattern = /\[reject:\s*(\w+)(?:\s+(\d+))?\s*\]/i;
const revisePattern = /\[revise:\s*([^\]]+)\]/i;
const anyPattern = new RegExp(
	[
		failPattern,
		refusePattern,
		endPattern,
		noUrlPattern,
		outputsPattern,
		secondsPattern,
		sizePattern,
		rejectPattern,
		revisePattern,
	]
		.map((each) => each.source)
		.join('|'),
	'gi',
);

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

/** Reads the directives of a prompt. All other text remains part of the prompt. */
export function readDirectives(prompt: string): Directives {
	// Fast path: most prompts have none, and property tests create thousands per second.
	if (!prompt.includes('[')) return { plain: prompt };
	const plain = prompt.replace(anyPattern, ' ').replace(/\s+/g, ' ').trim();
	const directives: Directives = { plain };
	const fail = failPattern.exec(prompt);
	if (fail) directives.fail = { reason: fail[2]?.trim() || defaultReason, asText: !!fail[1] };
	const refuse = refusePattern.exec(prompt);
	if (refuse) {
		const reason = refuse[2]?.trim() || defaultReason;
		directives.fail = { reason, asText: false, code: refuse[1] };
	}
	const end = endPattern.exec(prompt);
	if (end) directives.end = end[1];
	const noUrl = noUrlPattern.exec(prompt);
	if (noUrl) directives.withoutUrl = { reason: noUrl[1]?.trim() || null };
	const outputs = outputsPattern.exec(prompt);
	if (outputs) directives.outputs = Number(outputs[1]);
	const seconds = secondsPattern.exec(prompt);
	if (seconds) directives.seconds = Number(seconds[1]);
	const size = sizePattern.exec(prompt);
	if (size) directives.bytes = Math.round(Number(size[1]) * units[size[2].toUpperCase()]);
	const reject = rejectPattern.exec(prompt);
	if (reject) {
		directives.reject = { code: reject[1], times: reject[2] ? Number(reject[2]) : Infinity };
	}
	const revise = revisePattern.exec(prompt);
	if (revise) directives.revised = revise[1].trim();
	return directives;
}
