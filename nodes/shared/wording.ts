import { sentences, type Charge, type GenerationError } from '../../client/wire/errors';

/** How errors and hints read, wherever n8n shows them. */

/** What each error says of the credits: in its own words, or else in these. */
const CHARGES: Record<Charge, { sentence: string; told: RegExp }> = {
	none: {
		sentence: 'Nothing was charged for this item',
		told: /nothing (was|is|has been) (charged|spent|paid)/i,
	},
	refunded: { sentence: 'Its credits were refunded', told: /refunded/i },
	paid: { sentence: 'It is paid for', told: /paid for/i },
	unknown: { sentence: 'It may have been charged', told: /may have been charged/i },
};

/** What to do about an error, and what was charged. */
export function explained(error: GenerationError): string {
	const { sentence, told } = CHARGES[error.charge];
	const known = told.test(`${error.message}. ${error.description}`);
	return sentences(error.description, !known && sentence);
}

/** All there is to say of an error in one text, with the generation's id where it says none. */
export function inFull(error: GenerationError): string {
	const text = sentences(error.message, explained(error));
	const id = error.generation?.id;
	return sentences(text, id !== undefined && !text.includes(id) && `Generation: ${id}`);
}

/** `2 items were`, `1 item was`: a count with what depends on it. */
export function counted(count: number, one: string, many: string): string {
	return `${count} ${count === 1 ? one : many}`;
}

/** For where n8n renders HTML (descriptions and hints): what the service says is shown as it stands. */
export function asHtml(text: string): string {
	return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** For titles, which n8n renders as HTML in one place and as plain text in another: nothing that is a tag in either. */
export function withoutTags(text: string): string {
	return text.replace(/</g, '‹').replace(/>/g, '›');
}
