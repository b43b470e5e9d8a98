import { Session, type Profiler } from 'node:inspector/promises';

/** The shares of time that a process spent on each kind of work. Their sum is 1. */
export type ProfileShares = Record<(typeof KINDS)[number], number>;

const KINDS = [
	'waiting for network and disk',
	'this package',
	'n8n and its HTTP client',
	'Node.js, its streams and sockets',
	'system calls and native code',
	'collecting garbage',
] as const;

/** Runs a task while profiling the main thread of this process. */
export async function profiled<T>(work: () => Promise<T>): Promise<[T, ProfileShares]> {
	const session = new Session();
	session.connect();
	try {
		await session.post('Profiler.enable');
		await session.post('Profiler.start');
		const result = await work();
		const { profile } = await session.post('Profiler.stop');
		return [result, sharesOf(profile)];
	} finally {
		session.disconnect();
	}
}

/** Returns the shares of time in a profile by the kind of code that ran. */
export function sharesOf({
	nodes,
	samples = [],
	timeDeltas = [],
}: Profiler.Profile): ProfileShares {
	const kinds = new Map(nodes.map(({ id, callFrame }) => [id, kindOf(callFrame)]));
	const shares = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as ProfileShares;
	const total = timeDeltas.reduce((sum, delta) => sum + delta, 0);
	samples.forEach((id, index) => {
		const kind = kinds.get(id);
		if (kind) shares[kind] += timeDeltas[index] / total;
	});
	return shares;
}

function kindOf({ functionName, url }: Profiler.ProfileNode['callFrame']): (typeof KINDS)[number] {
	if (functionName === '(idle)') return 'waiting for network and disk';
	if (functionName === '(garbage collector)') return 'collecting garbage';
	if (/\/node_modules\//.test(url)) return 'n8n and its HTTP client';
	if (/\/dist\/(nodes|client)\//.test(url)) return 'this package';
	if (url === '') return 'system calls and native code';
	return 'Node.js, its streams and sockets';
}
