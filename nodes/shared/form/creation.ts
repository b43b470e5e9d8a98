import { jsonStringify } from 'n8n-workflow';

import { digest } from '../../../client/orders/table';
import { numbered } from '../../../client/jobs/job';
import type { GenerationType } from '../../../client/api/generation';
import { runsAsTool } from '../execution';
import { withAdditionalFields } from './additional-fields';
import { integer } from './checks';
import { writtenAt, type Entry, type Values } from './form';
import { deliveryOf, type Settings } from './parameters';
import type { Plan } from './plan-items';
import type { Inputs } from './reference-inputs';
import { requireKeyScope } from './step-options';
import type { Step } from '../step';

/** Turns the form values of an item into its jobs, for Image Generation and Video Generation. */

interface Draft {
	type: GenerationType;
	entries: Entry[];
	/** Paths of fields that change the request although they have no `wire`, such as the name of a binary field. */
	alsoSent: string[];
	/** Additions to the request (`body`) and to the digest of the item (`asked`, by path), such as a video's start image. */
	more?: { body: object; asked: Values };
	/** In seconds. */
	defaultTimeout: number;
	inputs?: Inputs;
}

/** Returns a value as JSON. Replaces circular references, which an n8n item may have in the error of an HTTP request. */
const toText = (value: object) => jsonStringify(value, { replaceCircularRefs: true });

/** Length of the digest in an idempotency key. Never change it: no stored key would match, and items are charged again. */
const DIGEST_IN_KEY = 16;

/** Builds the plans of an item, one for each output, from the values of its form. Throws InvalidInputError. */
export function creationPlans(
	step: Step,
	itemIndex: number,
	values: Values,
	{ type, entries, alsoSent, more, defaultTimeout, inputs }: Draft,
): Plan[] {
	const settings = values as Settings;
	const sent = entries.filter(({ wire }) => wire !== undefined);
	const added = (settings.additionalFields ?? {}) as Values;
	const asked = digestOfValues(type, {
		...Object.fromEntries(sent.map(({ path, name }) => [path, values[name]])),
		...more?.asked,
		referenceInputs: inputs?.identity,
		'options.additionalFields': Object.keys(added).length > 0 ? added : null,
	});
	const { idempotencyKey: key, newOnChange, keyScope, numberOfOutputs, fallbackModels } = settings;
	const writtenKey = writtenAt(step, 'options.idempotencyKey');
	if (key !== null) requireKeyScope(step, keyScope);
	const idempotencyKey =
		key !== null && newOnChange ? `${key} ${asked.slice(0, DIGEST_IN_KEY)}` : key;
	// In a retry, expressions may return other values. The unevaluated parameters (`recipe`) still find the generation.
	const paths = [...sent.map(({ path }) => path), ...alsoSent, 'options.additionalFields'];
	const wait = settings.waitForCompletion ?? true;
	const { waiting, download } = deliveryOf(step, settings, defaultTimeout);
	const { json } = step.items[itemIndex];
	const shared = {
		itemIndex,
		itemCount: step.items.length,
		// n8n may evaluate all parallel calls of an agent with the first call's arguments. Then only `json` tells them apart.
		digest: runsAsTool(step) ? digest(toText([asked, json])) : asked,
		recipe: () => ({
			request: toText([
				step.node.type,
				...paths.map((path) => [path, writtenAt(step, path)]),
				json,
			]),
			idempotencyKey: toText([writtenKey, json]),
		}),
		wait,
		onUncertainCharge: settings.onUncertainCharge ?? 'error',
		retriesOnFailure: settings.retriesOnFailure ?? 0,
		fallbackModels: (fallbackModels ?? []).filter((fallback) => fallback !== values.model),
		...waiting,
	};
	return Array.from({ length: numberOfOutputs ?? 1 }, (_, outputIndex) => {
		const own = { ...bodyOf(sent, values, outputIndex), ...more?.body };
		const draft = { type, body: withAdditionalFields(own, added) };
		return {
			job: {
				kind: 'create',
				outputIndex,
				draft,
				request: async () => {
					const loaded = (await inputs?.load()) ?? [];
					return loaded.length > 0 ? { ...draft, body: { ...draft.body, inputs: loaded } } : draft;
				},
				idempotencyKey: idempotencyKey && numbered(idempotencyKey, outputIndex),
				...shared,
			},
			download: wait ? download : null,
			prompt: values.prompt,
		};
	});
}

/** Builds the request body: the values of the fields `sent`, under their `wire` names. Empty values are left out. */
function bodyOf(sent: Entry[], values: Values, outputIndex: number): Values {
	const body: Values = {};
	for (const { name, wire = '' } of sent) {
		let value = values[name];
		if (isEmpty(value)) continue;
		// With one seed, all outputs of an item could be the same image, so each output gets the next seed (spec 4.1, 4.2).
		if (name === 'seed') value = integer('Seed', Number(value) + outputIndex);
		const [outer, inner] = wire.split('.');
		body[outer] = inner ? { ...(body[outer] as object | undefined), [inner]: value } : value;
	}
	return body;
}

function isEmpty(value: unknown): boolean {
	return (value ?? null) === null || (Array.isArray(value) && value.length === 0);
}

/**
 * Returns a digest of the form's values, without empty ones. The request body is not used: a new release may build another
 * body for the same form. The digest would then change, and the item could be charged again.
 */
function digestOfValues(type: string, values: Values): string {
	const filled = Object.entries(values).filter(([, value]) => !isEmpty(value));
	return digest(JSON.stringify(stable({ ...Object.fromEntries(filled), type })));
}

/** Prepares a value for a digest: sorts the names in objects, and removes the signatures of URLs. */
function stable(value: unknown): unknown {
	if (typeof value === 'string') return withoutSignature(value);
	if (Array.isArray(value)) return value.map(stable);
	if (typeof value !== 'object' || value === null) return value;
	const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
	return Object.fromEntries(entries.map(([name, inner]) => [name, stable(inner)]));
}

/** Matches a query parameter that only signed or expiring URLs have. */
const SIGNED = /[?&](x-(amz|goog)-[\w-]+|sig|signature|se|expires|token)=/i;

/** Removes the query of a signed URL: each new signature changes the query, but the URL still leads to the same file. */
function withoutSignature(text: string): string {
	return /^https?:\/\/\S+$/i.test(text) && SIGNED.test(text) ? text.split('?')[0] : text;
}
