import type { GenerationItem } from '../../../client/api/generation';

/** Maximum length of the words in a default file name, including the hyphens between them, in characters. */
const LONGEST_WORDS = 40;
const MOST_WORDS = 6;

/** Number of characters of the id in a default file name. The id tells outputs of the same prompt apart. */
const ID_LENGTH = 8;

/**
 * Returns the default name of a downloaded file, without an extension: the first words of the prompt, then the beginning of
 * the id. If the prompt has no words, or is not a text, the name begins with the model.
 */
export function defaultFileName(
	prompt: unknown,
	{ id, model }: Pick<GenerationItem, 'id' | 'model'>,
): string {
	const text = typeof prompt === 'string' ? prompt.toLowerCase() : '';
	// A word cannot begin with a combining mark (\p{M}): such a mark may belong to an emoji, and emojis are left out.
	const words = text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? [];
	let name = '';
	for (const word of words.slice(0, MOST_WORDS)) {
		const longer = name === '' ? word : `${name}-${word}`;
		if (longer.length > LONGEST_WORDS) break;
		name = longer;
	}
	// A first word that is too long, as in languages without spaces, is cut, but never within a Unicode character.
	name ||= [...(words[0] ?? '')].slice(0, LONGEST_WORDS).join('');
	return [name || model, id.slice(0, ID_LENGTH)].filter(Boolean).join('-');
}

/** Returns the file name that a user chose. For each output after the first, adds `-2`, `-3` and so on to the name. */
export function outputFileName(chosen: string, outputIndex: number): string {
	if (outputIndex === 0) return chosen;
	// Only an ending that begins with a letter counts as an extension: `.5` in the name `v1.5` does not.
	return chosen.replace(/(\.[a-z]\w{2,4})?$/i, `-${outputIndex + 1}$1`);
}
