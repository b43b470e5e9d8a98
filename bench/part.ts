import type { Row } from './table';

/** One part of the benchmark: measured together, and stored under one name in `bench/results.json`. */
export interface Part<Result extends object = object> {
	/** The name on the command line and in `bench/results.json`. */
	readonly name: string;
	/** True for a slow part, which runs only if it is requested by name. */
	readonly onlyAsked?: boolean;
	/** Measures and prints the results. */
	run(): Promise<Result>;
	/** Returns the tables for the documentation, by the name that follows `bench:` in their markers. */
	tables(result: Result): Record<string, Row[]>;
}
