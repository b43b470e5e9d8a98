import { isErrorName } from './basics/errors';
import { isObject } from './basics/fields';
import type { FaultAction, FaultOrder, FaultTarget } from './fault-types';

const targets: Readonly<Record<FaultTarget, true>> = {
	create: true,
	status: true,
	models: true,
	credits: true,
	download: true,
	probe: true,
	any: true,
};

const kinds: Readonly<Record<FaultAction['kind'], true>> = {
	error: true,
	respond: true,
	loseAnswer: true,
	reset: true,
	hang: true,
	delay: true,
	trickle: true,
	redirect: true,
	fail: true,
	end: true,
	seconds: true,
	unreachable: true,
	remember404: true,
	early: true,
	ignoreRange: true,
	partialContent: true,
	gzip: true,
	truncate: true,
	stall: true,
	expire: true,
	contentType: true,
	noContentLength: true,
	wrongLength: true,
};

function isOneOf(name: unknown, names: object): boolean {
	return typeof name === 'string' && Object.hasOwn(names, name);
}

/** Returns true if external input has a target and a kind of fault. The other fields are not checked. */
export function isFaultOrder(value: unknown): value is FaultOrder {
	if (!isObject(value) || !isOneOf(value.on, targets)) return false;
	const { action } = value;
	if (!isObject(action) || !isOneOf(action.kind, kinds)) return false;
	return action.kind !== 'error' || isErrorName(String(action.code));
}
