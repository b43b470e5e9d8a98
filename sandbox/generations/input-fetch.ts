import { createHash } from 'node:crypto';
import { lookup } from 'node:dns';
import * as http from 'node:http';
import * as https from 'node:https';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

/** How the sandbox fetches the files of requests. */
export interface InputFetching {
	/** True if it also fetches from this machine, such as from an n8n under test. Default: false. */
	loopback?: boolean;
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

/** Addresses of this machine. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Addresses that are not on the internet. IPv4 addresses written as IPv6 are rejected as a whole. */
const internal = new BlockList();
for (const [net, bits] of [
	['0.0.0.0', 8],
	['10.0.0.0', 8],
	['100.64.0.0', 10],
	['169.254.0.0', 16],
	['172.16.0.0', 12],
	['192.168.0.0', 16],
	['224.0.0.0', 3],
] as const) {
	internal.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
	['::', 127],
	['::ffff:0:0', 96],
	['fc00::', 7],
	['fe80::', 10],
	['ff00::', 8],
] as const) {
	internal.addSubnet(net, bits, 'ipv6');
}

class Refused extends Error {}

function assertAllowed(address: string, allowed: InputFetching): void {
	const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
	if (loopback.check(address, family)) {
		if (!allowed.loopback) throw new Refused('it is on the machine of the service');
	} else if (internal.check(address, family)) {
		throw new Refused('it is not on the internet');
	}
}

/** Resolves a name, and rejects it if one of its addresses is not allowed. The connection uses what was checked. */
function checkedLookup(allowed: InputFetching): LookupFunction {
	return (hostname, options, callback) => {
		lookup(hostname, { ...options, all: true }, (error, found) => {
			try {
				if (error) throw error;
				for (const { address } of found) assertAllowed(address, allowed);
				if (options.all) callback(null, found);
				else callback(null, found[0].address, found[0].family);
			} catch (refused) {
				callback(refused as Error, '', 0);
			}
		});
	};
}

/** Fetches a file with a plain GET: no login, no redirect. Returns its content too, if it was fetched. Never throws. */
export async function fetchInput(
	name: string,
	url: string,
	allowed: InputFetching,
): Promise<FetchedInput & { content?: Buffer }> {
	const { ca, timeoutMs = 10_000, maxBytes = 64 * 1024 ** 2 } = allowed;
	const fetched: FetchedInput = {
		...{ name, status: null, contentType: null, bytes: 0, sha256: null, trouble: null },
	};
	try {
		const target = new URL(url);
		const host = target.hostname.replace(/^\[|\]$/g, '');
		if (isIP(host)) assertAllowed(host, allowed);
		const signal = AbortSignal.timeout(timeoutMs);
		const options = { signal, lookup: checkedLookup(allowed), agent: false as const };
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
