/** Decodes UTF-8, without a byte order mark. Throws SyntaxError for anything else, instead of altering it. */
export function decodeText(bytes: Uint8Array): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		throw new SyntaxError('The body is not valid UTF-8.');
	}
}

/** Parses a JSON body. Throws SyntaxError with a message for the client. */
export function parseJson(body: string | Uint8Array): unknown {
	const text = typeof body === 'string' ? body : decodeText(body);
	try {
		return JSON.parse(text) as unknown;
	} catch {
		throw new SyntaxError('The body is not valid JSON.');
	}
}

/** Replaces lone surrogates, which no text in UTF-8 can contain. */
export function wellFormed(text: string): string {
	return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
