import type { GenerationItem } from './generation';

/** Characters of the words in a default file name, and of the id behind them. */
const LONGEST_WORDS = 40;
const ID_LENGTH = 8;

/**
 * The name of a downloaded file where none was wished for, without its extension: a few words of the prompt, or the
 * model where the prompt is not known, and the end of the id, which tells it from others. (Some ids begin with the time.)
 *
 * @param prompt what was asked for; `null` where only the generation is known
 */
export function defaultFileName(
	{ id, model }: Pick<GenerationItem, 'id' | 'model'>,
	prompt: string | null,
): string {
	const shortId = id.replace(/[^\p{L}\p{N}]/gu, '').slice(-ID_LENGTH);
	return [fewWords(prompt ?? '') || model, shortId].filter(Boolean).join('-');
}

/** As many whole words as fit, joined by hyphens; where the first alone is longer, its beginning. */
function fewWords(text: string): string {
	const [first = '', ...others] = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
	let words = [...first].slice(0, LONGEST_WORDS).join('');
	for (const word of others) {
		const longer = `${words}-${word}`;
		if ([...longer].length > LONGEST_WORDS) break;
		words = longer;
	}
	return words;
}
