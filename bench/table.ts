/** One row of a table, by column name. */
export type Row = Record<string, string | number>;

/** Returns a Markdown table with aligned columns, in Prettier's format. The keys of the first row are the columns. */
export function tableOf(rows: Row[]): string {
	const columns = Object.keys(rows[0] ?? {});
	const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
	const widths = columns.map((_, index) => Math.max(3, ...cells.map((row) => row[index].length)));
	const line = (row: string[]) =>
		`| ${row.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`;
	const rule = line(widths.map((width) => '-'.repeat(width)));
	return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
}

/** Prints rows as a table for the terminal. */
export function printTable(title: string, rows: Row[]): void {
	console.log(`\n${title}\n\n${tableOf(rows)}`);
}
