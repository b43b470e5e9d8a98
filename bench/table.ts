/** Prints rows as a table with aligned columns, to be read on a terminal and pasted into Markdown. */
export function printTable(title: string, rows: Array<Record<string, string | number>>): void {
	const columns = Object.keys(rows[0] ?? {});
	const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
	const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index].length)));
	const line = (row: string[]) =>
		`| ${row.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`;
	const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
	console.log([`\n${title}\n`, line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n'));
}
