import { isErrorName } from './basics/errors';
import { isObject } from './basics/fields';
import type { FaultAction, FaultOrder, FaultTarget } from './fault-types';

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

/** The fields that each kind needs besides `kind`. The others of the type are optional. */
type Shapes = {
	readonly [Kind in FaultAction['kind']]: {
		readonly [Field in Exclude<keyof Extract<FaultAction, { kind: Kind }>, 'kind'>]-?: Check;
	};
};

const targets: Readonly<Record<FaultTarget, true>> = {
	create: true,
	status: true,
	models: true,
	credits: true,
	download: true,
	probe: true,
	any: true,
};

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isAmount: Check = (value) => isNumber(value) && (value as number) >= 0;
const isWhole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isTextOrAmount: Check = (value) => isText(value) || isAmount(value);
const isHeaders: Check = (value) => isObject(value) && Object.values(value).every(isTextOrAmount);

/** A final status. Node.js cannot send others as a response. */
const isStatus: Check = (value) =>
	Number.isSafeInteger(value) && (value as number) >= 200 && (value as number) <= 999;

function oneOf(...values: unknown[]): Check {
	return (value) => values.includes(value);
}

function optional(check: Check): Check {
	return (value) => value === undefined || check(value);
}

const shapes: Shapes = {
	error: {
		code: (value) => isText(value) && isErrorName(value as string),
		message: optional(isText),
		param: optional(isText),
		retryAfter: optional(isTextOrAmount),
		retryAfterIn: optional(oneOf('header', 'body', 'error')),
		status: optional(isStatus),
	},
	respond: {
		status: isStatus,
		body: () => true,
		contentType: optional(isText),
		headers: optional(isHeaders),
		work: optional(isFlag),
		endless: optional(isFlag),
	},
	loseAnswer: {},
	reset: {},
	hang: { work: optional(isFlag) },
	delay: { ms: isAmount },
	trickle: { everyMs: isAmount, bytes: optional(isCount) },
	redirect: { location: isText, status: optional(oneOf(301, 302, 303, 307, 308)) },
	fail: { reason: optional(isText), asText: optional(isFlag), code: optional(isText) },
	end: { status: isText },
	numericId: {},
	inline: { as: optional(oneOf('b64_json', 'dataUri')) },
	seconds: { seconds: isAmount },
	unreachable: {},
	withoutUrl: {},
	cache: { seconds: isAmount },
	remember404: { seconds: isAmount },
	early: { seconds: isAmount },
	ignoreRange: {},
	partialContent: { bytes: optional(isCount) },
	gzip: {},
	truncate: { afterBytes: isWhole, chunked: optional(isFlag), ended: optional(isFlag) },
	stall: { afterBytes: isWhole },
	expire: {},
	contentType: { value: isText },
	noContentLength: {},
	wrongLength: { by: (value) => Number.isSafeInteger(value) },
};

const orderShape: Shape = {
	on: (value) => isText(value) && Object.hasOwn(targets, value as string),
	match: optional((value) => isObject(value) && fits(value, matchShape)),
	skip: optional(isWhole),
	times: optional((value) => value === 'always' || isCount(value)),
	share: optional((value) => isAmount(value) && (value as number) <= 1),
	action: isAction,
};

const matchShape: Shape = {
	promptIncludes: optional(isText),
	id: optional(isText),
	key: optional(isText),
};

function fits(value: Readonly<Record<string, unknown>>, shape: Shape): boolean {
	return Object.entries(shape).every(([name, check]) => check(value[name]));
}

/** Without an end, an empty body is repeated without ever waiting for the client: nothing else would be served. */
function canBeEndless({ status, body }: Extract<FaultAction, { kind: 'respond' }>): boolean {
	return body !== undefined && body !== '' && status !== 204 && status !== 304;
}

function isAction(value: unknown): boolean {
	if (!isObject(value) || !isText(value.kind)) return false;
	const { kind } = value as FaultAction;
	if (!Object.hasOwn(shapes, kind) || !fits(value, shapes[kind])) return false;
	const action = value as FaultAction;
	return action.kind !== 'respond' || !action.endless || canBeEndless(action);
}

/** Returns true if external input is a valid order, with the fields that its kind needs. */
export function isFaultOrder(value: unknown): value is FaultOrder {
	return isObject(value) && fits(value, orderShape);
}
