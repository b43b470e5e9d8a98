import { FreshValue } from '../../../client/api/fresh-value';

/** A prompt with a mark that only the sent request shows: the client cannot tell two of them apart by it. */
export class MarkedPrompt extends FreshValue {
	constructor(
		private readonly text: string,
		mark: number,
	) {
		super(() => `${text} #${mark}`);
	}

	toJSON = () => this.text;
	override toString = () => this.text;
}

/** Returns the mark of a body as it was sent; -1 if it has none. */
export function markIn(body: unknown): number {
	const { prompt } = body as { prompt?: unknown };
	return Number(/ #(\d+)$/.exec(String(prompt))?.[1] ?? -1);
}
