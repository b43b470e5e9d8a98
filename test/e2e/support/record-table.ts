import { TABLE_COLUMNS } from '../../../client/orders/table';
import type { Rest } from '../../../tools/n8n/rest';

/** An empty cell is NULL. */
export type Row = Record<string, string | null> & { id: number; key: string };

/** n8n's data table of the record, as a user reaches it in the editor. */
export class RecordTable {
	private constructor(
		private readonly rest: Rest,
		private readonly project: string,
	) {}

	static async of(rest: Rest): Promise<RecordTable> {
		const { id } = await rest.send<{ id: string }>('GET', '/projects/personal');
		return new RecordTable(rest, `/projects/${id}/data-tables`);
	}

	/** Makes a table with the columns of the record. */
	async make(name: string): Promise<void> {
		const columns = TABLE_COLUMNS.map((column) => ({ name: column, type: 'string' }));
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
		const table = data.find(({ name }) => name === 'media_generations');
		if (!table) throw new Error('There is no data table media_generations');
		return `${this.project}/${table.id}`;
	}
}
