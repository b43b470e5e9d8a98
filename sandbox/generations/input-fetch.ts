import { createHash } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';

/** How the sandbox fetches the files of requests. */
export interface InputFetching {
	/** Certificates that it trusts beside the usual ones, as PEM. */
	ca?: string;
	/** Milliseconds for each file. Default: 10,000. */
	timeoutMs?: number;
	/** Maximum size of each file in bytes. Default: 64 MB. */
	maxBytes?: number;
}

/** A file as it was fetched. The URL is not kept: it may be a secret. */
export interface FetchedInput {
	/** Its name in the request, such as `image_url` or `inputs[0].value`. */
	name: string;
	/** Status of the response; `null` if there was none. */
	status: number | null;
	contentType: string | null;
	bytes: number;
	sha256: string | null;
	/** Why it cannot be used; `null` if it was fetched. */
	trouble: string | null;
}

class Refused extends Error {}

/** Fetches a file with a plain GET: no login, no redirect. Returns its content too, if it was fetched. Never throws. */
export async function fetchInput(
	name: string,
	url: string,
	how: InputFetching,
): Promise<FetchedInput & { content?: Buffer }> {
	const { ca, timeoutMs = 10_000, maxBytes = 64 * 1024 ** 2 } = how;
	const fetched: FetchedInput = {
		...{ name, status: null, contentType: null, bytes: 0, sha256: null, trouble: null },
	};
	try {
		const target = new URL(url);
		const signal = AbortSignal.timeout(timeoutMs);
		const options = { signal, agent: false as const };
		const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
			const request =
				target.protocol === 'https:'
					? https.get(target, { ...options, ...(ca && { ca }) }, resolve)
					: http.get(target, options, resolve);
			request.on('error', reject);
		});
		fetched.status = response.statusCode ?? null;
		fetched.contentType = response.headers['content-type'] ?? null;
		if (fetched.status !== 200) {
			response.destroy();
			return { ...fetched, trouble: `the server answered ${fetched.status}` };
		}
		const chunks: Buffer[] = [];
		for await (const chunk of response) {
			fetched.bytes += (chunk as Buffer).length;
			if (fetched.bytes > maxBytes) throw new Refused('it is too large');
			chunks.push(chunk as Buffer);
		}
		if (fetched.bytes === 0) throw new Refused('it is empty');
		const content = Buffer.concat(chunks);
		return { ...fetched, sha256: createHash('sha256').update(content).digest('hex'), content };
	} catch (error) {
		const { code, name: kind } = error as NodeJS.ErrnoException;
		const reason = error instanceof Refused ? error.message : (code ?? kind);
		return {
			...fetched,
			trouble: kind === 'AbortError' || kind === 'TimeoutError' ? 'it took too long' : reason,
		};
	}
}
