import type { BinaryDataService } from 'n8n-core';
import type { LogBook } from './logging';
import type { TypeRegistry } from './node-types';
import type { ExecutionRecord } from './run';

/** What the parts of one engine share; `records` takes the place of n8n's table of executions. */
export interface Host {
	types: TypeRegistry;
	binaryData: BinaryDataService;
	log: LogBook;
	records: Map<string, ExecutionRecord>;
	/** Returns the next execution id. */
	nextId: () => string;
}
