import type { Charge, GenerationError, KnownGeneration } from '../../../client/api/errors';
import { isFinalState } from '../../../client/api/states';
import { amount, itemNames, sentences } from '../../../client/text';
import type { Step } from '../step';

const CHARGES: Record<Exclude<Charge, 'none'>, string | null> = {
	refunded: 'The credits were refunded',
	paid: 'The generation has been charged',
	// If the charge is unknown, the title or the details of the error already say that the item may have been charged.
	unknown: null,
};

/** The description of an error: what happened, what was charged, and what to do. */
export function explained(error: GenerationError): string {
	const { details, charge, code, description, generation } = error;
	// If an error names a generation and has the charge `none`, it is from a status check: only the check was free.
	const ofCheck = generation !== null || code === 'generation_not_found';
	const none = ofCheck ? 'Status checks charge nothing' : 'Nothing was charged for it';
	return sentences(details, charge === 'none' ? none : CHARGES[charge], description);
}

/** The full text of an error. It includes the id of the generation. */
export function inFull(error: GenerationError): string {
	const text = sentences(error.message, explained(error));
	const id = error.generation?.id;
	return sentences(text, id !== undefined && !text.includes(id) && `Generation: ${id}`);
}

/** Returns the first message that is not of a `skipped` error, with “and others” if there are different ones. */
export function firstMessage(errors: GenerationError[]): string {
	const own = errors.filter(({ skipped }) => !skipped);
	const [first = errors[0]] = own;
	const others = own.some(({ message }) => message !== first.message);
	return others ? `${first.message}, and others` : first.message;
}

/** A count with its noun or verb: `2 items were`, `1 item was`. */
export function counted(count: number, one: string, many: string): string {
	return `${amount(count)} ${count === 1 ? one : many}`;
}

/** Says how many generations were charged, and how many of them may still fail. */
export function chargedSoFar(paid: KnownGeneration[]): string {
	const running = paid.filter(({ status }) => status && !isFinalState(status)).length;
	const one = running === 1;
	const all = one ? 'It is' : 'They are';
	const some = `${amount(running)} of them ${one ? 'is' : 'are'}`;
	return sentences(
		`${counted(paid.length, 'generation has', 'generations have')} already been charged`,
		running > 0 &&
			`${running === paid.length ? all : some} still running, and ${one ? 'is refunded if it fails' : 'are refunded if they fail'}`,
	);
}

/** Names input items at the start of a sentence: `Item 3 of 12`. */
export function itemsOf(step: Step, indexes: number[]): string {
	const names = itemNames(indexes, step.items.length);
	return names.charAt(0).toUpperCase() + names.slice(1);
}

/** Escapes text for places where n8n renders HTML (descriptions and hints). */
export function asHtml(text: string): string {
	return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** Replaces angle brackets in titles: n8n renders titles as HTML in one place and as plain text in another. */
export function withoutTags(text: string): string {
	return text.replace(/</g, '‹').replace(/>/g, '›');
}
