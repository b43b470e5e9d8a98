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

/** What the creating nodes share. All functions throw `InvalidInputError`. */

interface Draft {
	type: GenerationType;
	entries: Entry[];
	/** Paths of fields that are sent in another way than by their own values. */
	alsoSent: string[];
	/** Their part of the body, and their values by paths of the form. Without reference inputs. */
	more?: { body: object; asked: Values };
	/** Seconds. */
	defaultTimeout: number;
	inputs?: Inputs;
}

/** Serializes a value as JSON. n8n allows circular items, such as one with the error of a request. */
const toText = (value: object) => jsonStringify(value, { replaceCircularRefs: true });

/** How many characters of the digest a key gets. Never changed: keys are stored. */
const DIGEST_IN_KEY = 16;

/** Builds the plans of an item, one for each output, from the values of its form. */
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
	// An expression may have another value in every attempt of the step, so the unevaluated parameters identify an item.
	const paths = [...sent.map(({ path }) => path), ...alsoSent, 'options.additionalFields'];
	const wait = settings.waitForCompletion ?? true;
	const { waiting, download } = deliveryOf(step, settings, defaultTimeout);
	const { json } = step.items[itemIndex];
	const shared = {
		itemIndex,
		itemCount: step.items.length,
		// n8n may evaluate parallel calls of an agent with the arguments of the first one, so their JSON counts as well.
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

/** The values that are sent, by their names in the body. Empty ones are left out. */
function bodyOf(sent: Entry[], values: Values, outputIndex: number): Values {
	const body: Values = {};
	for (const { name, wire = '' } of sent) {
		let value = values[name];
		if (isEmpty(value)) continue;
		// The same seed would create the same image again, so it counts up with each output (spec 4.1, 4.2).
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
 * Identifies what an item asks for, by the user's values: how a request is built may change with a release, and must not
 * create and charge an item again. Empty ones do not count.
 */
function digestOfValues(type: string, values: Values): string {
	const filled = Object.entries(values).filter(([, value]) => !isEmpty(value));
	return digest(JSON.stringify(stable({ ...Object.fromEntries(filled), type })));
}

/** Returns a value without what does not count: the order of the names of objects, and the signatures of URLs. */
function stable(value: unknown): unknown {
	if (typeof value === 'string') return withoutSignature(value);
	if (Array.isArray(value)) return value.map(stable);
	if (typeof value !== 'object' || value === null) return value;
	const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
	return Object.fromEntries(entries.map(([name, inner]) => [name, stable(inner)]));
}

/** A query parameter of a URL that is signed, or valid for a limited time. */
const SIGNED = /[?&](x-(amz|goog)-[\w-]+|sig|signature|se|expires|token)=/i;

/** A signed URL without its query: it is another one each time that it is read, and the file is the same. */
function withoutSignature(text: string): string {
	return /^https?:\/\/\S+$/i.test(text) && SIGNED.test(text) ? text.split('?')[0] : text;
}
