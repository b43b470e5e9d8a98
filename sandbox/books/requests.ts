import { fingerprintOf } from '../accounts/accounts';
import type { FaultAction, FaultTarget } from '../faults';

/** A request that arrived at either origin. */
export interface RequestRecord {
	/** Milliseconds since 1970. */
	readonly at: number;
	readonly origin: 'service' | 'storage';
	readonly on: FaultTarget | 'other';
	readonly method: string;
	readonly path: string;
	/** Fingerprint of the request's key. The key itself is never stored. */
	readonly keyFingerprint: string | null;
	/** True if the request had an Authorization header. Requests to the storage origin must not have one. */
	readonly authorization: boolean;
	/** The Idempotency-Key header. */
	readonly idempotencyKey: string | null;
	generationId: string | null;
	/** Status of the response, or null if none was sent. */
	status: number | null;
	/** Bytes of the body that were written to the connection. */
	bytes: number;
	/** False if the sandbox withheld the response, or the client disconnected before it was complete. */
	answered: boolean;
	fault: FaultAction['kind'] | null;
}

const kept = 200_000;

/** Returns the key in an Authorization header, or null. */
export function bearerOf(authorization: string | undefined): string | null {
	return /^Bearer\s+(\S+)$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** Records every request since the start or the last reset. Above 200,000, the oldest ones are dropped. */
export class RequestLog {
	private records: RequestRecord[] = [];
	/** Number of requests that have arrived, including dropped ones. */
	readonly arrived = { service: 0, storage: 0 };
	private readonly fingerprints = new Map<string, string>();

	/** Adds a request when it arrives. Its outcome is filled in later. */
	add(
		arrival: Pick<RequestRecord, 'at' | 'origin' | 'on' | 'method' | 'path'>,
		headers: Readonly<Record<string, string | undefined>>,
	): RequestRecord {
		const key = bearerOf(headers.authorization);
		const record: RequestRecord = {
			...arrival,
			keyFingerprint: key === null ? null : this.fingerprint(key),
			authorization: headers.authorization !== undefined,
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

	/** All recorded requests, oldest first. */
	get all(): readonly RequestRecord[] {
		return this.records;
	}

	/** Returns the requests of one kind: `create`, `status`, `download`… */
	on(target: RequestRecord['on']): RequestRecord[] {
		return this.records.filter((record) => record.on === target);
	}

	/** Requests at the storage origin that carried an Authorization header. */
	get keysAtStorage(): RequestRecord[] {
		return this.records.filter((record) => record.origin === 'storage' && record.authorization);
	}

	/** Removes all records. */
	clear(): void {
		this.records = [];
		Object.assign(this.arrived, { service: 0, storage: 0 });
	}
}
