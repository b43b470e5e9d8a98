/**
 * Deeper JSON is rejected. No request needs as many levels, and from a few thousand on `JSON.stringify` overflows the
 * stack: what was stored could no longer be shown.
 */
const deepest = 100;

/** Returns the index after the text that begins at `start`, or the end if it is not closed. */
function endOfText(json: string, start: number): number {
	for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
		let slashes = 0;
		while (json[end - 1 - slashes] === '\\') slashes++;
		if (slashes % 2 === 0) return end + 1;
	}
	return json.length;
}

/** Returns true if objects and arrays are nested too deeply. It need not be valid JSON, and is not parsed. */
function isTooDeep(json: string): boolean {
	const marks = /["[\]{}]/g;
	let depth = 0;
	for (let found = marks.exec(json); found; found = marks.exec(json)) {
		if (found[0] === '"') marks.lastIndex = endOfText(json, found.index);
		else depth += '[{'.includes(found[0]) ? 1 : -1;
		if (depth > deepest) return true;
	}
	return false;
}

/** Decodes UTF-8, without a byte order mark. Throws SyntaxError for anything else, instead of altering it. */
export function decodeText(bytes: Uint8Array): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		throw new SyntaxError('The body is not valid UTF-8.');
	}
}

/** Returns the text of a JSON body, which is not yet parsed. Throws SyntaxError with a message for the client. */
export function jsonText(body: string | Uint8Array): string {
	const text = typeof body === 'string' ? body : decodeText(body);
	if (isTooDeep(text)) throw new SyntaxError(`The body is nested deeper than ${deepest} levels.`);
	return text;
}

/** Parses a JSON body. Throws SyntaxError with a message for the client. */
export function parseJson(body: string | Uint8Array): unknown {
	const text = jsonText(body);
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
