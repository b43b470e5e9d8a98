import type { GenerationItem } from '../../../client/api/generation';

/** Maximum length of all words of a default file name together, in characters. */
const LONGEST_WORDS = 40;
const MOST_WORDS = 6;

/** Number of characters of the id in a default file name. The id tells outputs of the same prompt apart. */
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
	// A combining mark (\p{M}) belongs to a word only after a letter or digit: after an emoji, it selects how the emoji looks.
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

/** Returns the file name that a user chose. From the second output of an item on, the output's number is added to it. */
export function outputFileName(chosen: string, outputIndex: number): string {
	if (outputIndex === 0) return chosen;
	// Only an ending that begins with a letter counts as an extension: `.5` in the name `v1.5` does not.
	return chosen.replace(/(\.[a-z]\w{2,4})?$/i, `-${outputIndex + 1}$1`);
}
