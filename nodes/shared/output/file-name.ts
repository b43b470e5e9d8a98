import type { GenerationItem } from '../../../client/api/generation';

/** Maximum length of the words in a default file name, in characters. */
const LONGEST_WORDS = 40;
const MOST_WORDS = 6;

/** Number of characters of the id in a default file name. They tell outputs of one prompt apart. */
const ID_LENGTH = 8;

/**
 * Returns the default name of a downloaded file, without an extension: the first words of the prompt, or else the model,
 * and the beginning of the id. A `prompt` that is not a text is ignored.
 */
export function defaultFileName(
	prompt: unknown,
	{ id, model }: Pick<GenerationItem, 'id' | 'model'>,
): string {
	const text = typeof prompt === 'string' ? prompt.toLowerCase() : '';
	// Combining marks (\p{M}) count only after a letter or digit: those after an emoji only select how it looks.
	const words = text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? [];
	let name = '';
	for (const word of words.slice(0, MOST_WORDS)) {
		const longer = name === '' ? word : `${name}-${word}`;
		if (longer.length > LONGEST_WORDS) break;
		name = longer;
	}
	// A first word that is too long, as in languages without spaces, is cut between two characters.
	name ||= [...(words[0] ?? '')].slice(0, LONGEST_WORDS).join('');
	return [name || model, id.slice(0, ID_LENGTH)].filter(Boolean).join('-');
}

/** Returns the file name that a user chose, with a number from the second output of an item on. */
export function outputFileName(chosen: string, outputIndex: number): string {
	if (outputIndex === 0) return chosen;
	// An extension begins with a letter: the end of the name "v1.5" is none.
	return chosen.replace(/(\.[a-z]\w{2,4})?$/i, `-${outputIndex + 1}$1`);
}
