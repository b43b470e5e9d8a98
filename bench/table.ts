/** One line of a table, by the names of its columns. */
export type Row = Record<string, string | number>;

/** Rows as a Markdown table with aligned columns, as Prettier writes it. The first row names the columns. */
export function tableOf(rows: Row[]): string {
	const columns = Object.keys(rows[0] ?? {});
	const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
	const widths = columns.map((_, index) => Math.max(3, ...cells.map((row) => row[index].length)));
	const line = (row: string[]) =>
		`| ${row.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`;
	const rule = line(widths.map((width) => '-'.repeat(width)));
	return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
}

/** Prints rows as a table, to be read on a terminal. */
export function printTable(title: string, rows: Row[]): void {
	console.log(`\n${title}\n\n${tableOf(rows)}`);
}
