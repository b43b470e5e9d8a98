import type { Row } from './table';

/** One part of the bench: what is measured together, and kept under one name in `bench/results.json`. */
export interface Part<Result extends object = object> {
	/** On the command line, and in `bench/results.json`. */
	readonly name: string;
	/** Takes long: only where it is asked for by its name. */
	readonly onlyAsked?: boolean;
	/** Measures, and prints what it finds. */
	run(): Promise<Result>;
	/** Tables for the documentation, by the name that stands in their marker behind `bench:`. */
	tables(result: Result): Record<string, Row[]>;
}
