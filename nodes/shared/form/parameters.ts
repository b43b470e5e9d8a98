import type { CreateJob, Job } from '../../../client/jobs/job';
import { truncate } from '../../../client/text';
import { runsAsTool } from '../execution';
import { InvalidInputError, toText } from './checks';
import { partsOf } from './expressions';
import { OUTPUT_FIELD } from './fields';
import { writtenAt, type Values } from './form';
import { isAfterSleep, type Step } from '../step';

/** What the settings of several nodes mean for a job. The checks of the fields guarantee the types. */

/** The destination of a download. */
export interface DownloadTarget {
	propertyName: string;
	/** `null`: use the prompt and the id. */
	fileName: string | null;
}

/** The checked values of fields that several nodes have. `null`: empty, or not added. */
export interface Settings extends Values {
	waitForCompletion: boolean | null;
	downloadOutput: boolean | null;
	binaryPropertyName: string | null;
	fileName: string | null;
	readiness: Job['readiness'] | null;
	timeout: number | null;
	onTimeout: Job['onTimeout'] | null;
	numberOfOutputs: number | null;
	additionalFields: object | null;
	idempotencyKey: string | null;
	newOnChange: boolean | null;
	keyScope: string | null;
	onUncertainCharge: CreateJob['onUncertainCharge'] | null;
	retriesOnFailure: number | null;
	fallbackModels: string[] | null;
}

/**
 * Identifies the creating request of an item by its unevaluated parameters and its input item. The evaluated request
 * cannot identify it: an expression may return a different value in every attempt of the step, such as a random seed.
 *
 * @param sent the paths of the fields that are sent. Any other may change before a retry, and the existing generation is
 * still reused
 * @returns the text that identifies the request, and the text that identifies the idempotency key
 */
export function recipeOf(
	step: Step,
	itemIndex: number,
	sent: string[],
): { request: string; idempotencyKey: string } {
	const { json } = step.items[itemIndex];
	const written = sent.map((path) => [path, writtenAt(step, path)]);
	return {
		request: toText([step.node.type, ...written, json]),
		idempotencyKey: toText([writtenAt(step, 'options.idempotencyKey'), json]),
	};
}

/** What JavaScript makes of a value that is missing, within a text. Base64 may contain such a word by chance. */
const NO_VALUE = /undefined|invalid date(time)?|(?<![\w+/])(null|nan)(?![\w+/=])/i;

/**
 * Requires that an idempotency key is made of values: items with different prompts would share any other one.
 *
 * @throws InvalidInputError
 */
export function requireKeyValues(step: Step, itemIndex: number, key: string): void {
	const written = writtenAt(step, 'options.idempotencyKey');
	if (typeof written !== 'string' || !written.startsWith('=') || isAfterSleep(step)) return;
	// A null in the data is no text.
	const isText = (_: string, value: unknown) => (value === null ? undefined : value);
	const [word] = NO_VALUE.exec(key) ?? [];
	const data = toText(step.items[itemIndex].json, isText).toLowerCase();
	const isOfData = (text: string) =>
		[written.toLowerCase(), data].some((one) => one.includes(text));
	const isMissing = word !== undefined && !isOfData(word.toLowerCase());
	// Only separators are left of it.
	const isBare = !/[\p{L}\p{N}]/u.test(key) && !data.includes(key.toLowerCase());
	const parts = partsOf(step, itemIndex, written);
	const isEmpty = ({ value }: (typeof parts)[0]) => String(value ?? '').trim() === '';
	if (!isMissing && !isBare && (parts.length === 0 || !parts.every(isEmpty))) return;
	throw new InvalidInputError(
		`A part of Idempotency Key has no value: ${truncate(key)}`,
		'Items with the same idempotency key share one generation. Use a value in the expression that each item has.',
	);
}

/** Seconds. Clients of n8n's MCP Server Trigger give up after 60 s, and an agent whose call timed out creates again. */
const TOOL_TIMEOUT = 45;

/**
 * How to wait for one generation. A tool answers within a minute, unless the user has set a longer timeout.
 *
 * @param defaultTimeout in seconds
 */
export function waitingOf(
	step: Step,
	{ timeout, onTimeout, readiness }: Settings,
	defaultTimeout: number,
): Pick<Job, 'readiness' | 'timeoutMs' | 'onTimeout' | 'countsFromStart'> {
	const isTool = runsAsTool(step);
	return {
		readiness: readiness ?? 'auto',
		timeoutMs: 1000 * (timeout ?? (isTool ? TOOL_TIMEOUT : defaultTimeout)),
		onTimeout: onTimeout ?? (isTool ? 'continue' : 'error'),
		...(isTool && { countsFromStart: true }),
	};
}

/** The destination of the download; `null` if the output is not downloaded. */
export function downloadTarget(settings: Settings): DownloadTarget | null {
	if (settings.downloadOutput === false) return null;
	const { binaryPropertyName, fileName } = settings;
	return { propertyName: binaryPropertyName ?? OUTPUT_FIELD, fileName };
}
