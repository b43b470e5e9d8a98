import { TABLE_COLUMNS } from '../../../client/jobs/row';
import type { Rest } from '../../../tools/n8n/rest';

/** An empty cell is NULL. */
export type Row = Record<string, string | null> & { id: number; key: string };

/** One of n8n's data tables, through the REST API of the editor. */
export class DataTable {
	private constructor(
		private readonly rest: Rest,
		private readonly project: string,
		private readonly name: string,
	) {}

	/** @param name default: the table that holds the idempotency keys */
	static async of(rest: Rest, name = 'media_generations'): Promise<DataTable> {
		const { id } = await rest.send<{ id: string }>('GET', '/projects/personal');
		return new DataTable(rest, `/projects/${id}/data-tables`, name);
	}

	/** Creates a table of text columns; by default with those of the journal. */
	async make(name: string, names: readonly string[] = TABLE_COLUMNS): Promise<void> {
		const columns = names.map((column) => ({ name: column, type: 'string' }));
		await this.rest.send('POST', this.project, { name, columns });
	}

	async rows(): Promise<Row[]> {
		const rows: Row[] = [];
		for (;;) {
			const page = `take=250&skip=${rows.length}`;
			const { data } = await this.rest.send<{ data: Row[] }>(
				'GET',
				`${await this.path()}/rows?${page}`,
			);
			rows.push(...data);
			if (data.length < 250) return rows;
		}
	}

	/** Changes cells of the rows whose column `name` has this value. */
	async change(name: string, data: Record<string, string>): Promise<void> {
		const filters = [{ columnName: 'name', condition: 'eq', value: name }];
		const filter = { type: 'and', filters };
		await this.rest.send('PATCH', `${await this.path()}/rows`, { filter, data });
	}

	/** Returns the path of the page where the editor shows it. */
	async page(): Promise<string> {
		return (await this.path()).replace('data-tables', 'datatables');
	}

	async exportCsv(): Promise<string> {
		const path = `${await this.path()}/download-csv?includeSystemColumns=true`;
		return (await this.rest.send<{ csvContent: string }>('GET', path)).csvContent;
	}

	async importCsv(content: string): Promise<void> {
		const { id } = await this.rest.sendFile<{ id: string }>(
			'/data-tables/uploads',
			'rows.csv',
			content,
		);
		await this.rest.send('POST', `${await this.path()}/import-csv`, { fileId: id });
	}

	async delete(): Promise<void> {
		await this.rest.send('DELETE', await this.path());
	}

	private async path(): Promise<string> {
		const { data } = await this.rest.send<{ data: Array<{ id: string; name: string }> }>(
			'GET',
			this.project,
		);
		const table = data.find(({ name }) => name === this.name);
		if (!table) throw new Error(`There is no data table ${this.name}`);
		return `${this.project}/${table.id}`;
	}
}
