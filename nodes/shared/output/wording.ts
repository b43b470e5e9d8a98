import { sentences, type Charge, type GenerationError } from '../../../client/api/errors';

/** The wording of errors and hints, wherever n8n shows them. */

/** The default sentence about the charge, and the pattern of an error text that already states it. */
const CHARGES: Record<Charge, { sentence: string; told: RegExp }> = {
	none: {
		sentence: 'Nothing was charged for this item',
		told: /nothing (was|is|has been) (charged|spent|paid)/i,
	},
	refunded: { sentence: 'Its credits were refunded', told: /refunded/i },
	paid: { sentence: 'It has been charged', told: /paid for|been charged/i },
	unknown: { sentence: 'It may have been charged', told: /may have been charged/i },
};

/** The description of an error, followed by what was charged. */
export function explained(error: GenerationError): string {
	const { sentence, told } = CHARGES[error.charge];
	const known = told.test(`${error.message}. ${error.description}`);
	return sentences(error.description, !known && sentence);
}

/** The full text of an error. It includes the id of the generation. */
export function inFull(error: GenerationError): string {
	const text = sentences(error.message, explained(error));
	const id = error.generation?.id;
	return sentences(text, id !== undefined && !text.includes(id) && `Generation: ${id}`);
}

/** A count with its noun or verb: `2 items were`, `1 item was`. */
export function counted(count: number, one: string, many: string): string {
	return `${count} ${count === 1 ? one : many}`;
}

/** Escapes text for places where n8n renders HTML (descriptions and hints). */
export function asHtml(text: string): string {
	return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** Replaces angle brackets in titles: n8n renders titles as HTML in one place and as plain text in another. */
export function withoutTags(text: string): string {
	return text.replace(/</g, '‹').replace(/>/g, '›');
}
