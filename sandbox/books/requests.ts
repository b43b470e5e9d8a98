import { fingerprintOf } from '../accounts/accounts';
import type { FaultAction, FaultTarget } from '../faults';

/** A request that arrived, at either origin. */
export interface RequestRecord {
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly origin: 'service' | 'storage';
	readonly on: FaultTarget | 'other';
	readonly method: string;
	readonly path: string;
	/** The fingerprint of the key that came with it; the key itself is kept nowhere. */
	readonly keyFingerprint: string | null;
	/** Whether an Authorization header came with it: at the storage origin it never should. */
	readonly authorization: boolean;
	readonly range: string | null;
	/** The Idempotency-Key header. */
	readonly idempotencyKey: string | null;
	generationId: string | null;
	/** The status answered, or null where no answer went out. */
	status: number | null;
	/** Bytes of the body that were handed to the connection. */
	bytes: number;
	/** False where the sandbox kept the answer to itself or the client left before it. */
	answered: boolean;
	fault: FaultAction['kind'] | null;
}

const kept = 200_000;

/** The key in an Authorization header, or null. */
export function bearerOf(authorization: string | undefined): string | null {
	return /^Bearer\s+(\S+)$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** Every request since the start or the last reset; the oldest go once there are 200,000. */
export class RequestLog {
	private records: RequestRecord[] = [];
	/** How many have arrived, those that have gone since included. */
	readonly arrived = { service: 0, storage: 0 };
	private readonly fingerprints = new Map<string, string>();

	/** Notes an arrival; what becomes of it is filled in later. */
	add(
		arrival: Pick<RequestRecord, 'at' | 'origin' | 'on' | 'method' | 'path'>,
		headers: Readonly<Record<string, string | undefined>>,
	): RequestRecord {
		const key = bearerOf(headers.authorization);
		const record: RequestRecord = {
			...arrival,
			keyFingerprint: key === null ? null : this.fingerprint(key),
			authorization: headers.authorization !== undefined,
			range: headers.range ?? null,
			idempotencyKey: headers['idempotency-key'] ?? null,
			generationId: null,
			status: null,
			bytes: 0,
			answered: false,
			fault: null,
		};
		if (this.records.length >= kept) this.records = this.records.slice(kept / 2);
		this.records.push(record);
		this.arrived[arrival.origin]++;
		return record;
	}

	private fingerprint(key: string): string {
		const known = this.fingerprints.get(key);
		if (known) return known;
		const fresh = fingerprintOf(key);
		this.fingerprints.set(key, fresh);
		return fresh;
	}

	/** All of them, oldest first. */
	get all(): readonly RequestRecord[] {
		return this.records;
	}

	/** Those for one thing: `create`, `status`, `download`… */
	on(target: RequestRecord['on']): RequestRecord[] {
		return this.records.filter((record) => record.on === target);
	}

	/** Requests at the storage origin that carried an Authorization header. */
	get keysAtStorage(): RequestRecord[] {
		return this.records.filter((record) => record.origin === 'storage' && record.authorization);
	}

	/** Forgets all. */
	clear(): void {
		this.records = [];
		Object.assign(this.arrived, { service: 0, storage: 0 });
	}
}
