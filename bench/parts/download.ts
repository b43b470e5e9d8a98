import { startSandbox } from '../../sandbox/server';
import { runDownload, type DownloadCase, type DownloadResult } from '../download';
import { fixed } from '../figures';
import type { Part } from '../part';
import { printTable } from '../table';

const DOWNLOADS: DownloadCase[] = [
	{ name: 'one file of 1 GiB', files: 1, size: '1GB' },
	{ name: '20 files of 50 MB at once', files: 20, size: '50MB' },
];

interface Result {
	rows: Array<ReturnType<typeof row>>;
}

/** Downloads into n8n's storage, beside curl. */
export const download: Part<Result> = {
	name: 'download',
	async run() {
		const sandbox = await startSandbox({ timeScale: 100 });
		try {
			const service = { url: sandbox.url, key: sandbox.keys.hero };
			const rows = [];
			for (const shape of DOWNLOADS) rows.push(row(await runDownload(service, shape)));
			printTable('Downloads into n8n’s storage (filesystem)', rows);
			return { rows };
		} finally {
			await sandbox.close();
		}
	},
	tables: ({ rows }) => ({
		download: rows.map((each) => ({
			'': each.download,
			'memory that it adds': `${each['memory growth (MB)']} MB`,
			'of curl’s speed': each['of curl'].toFixed(2),
		})),
	}),
};

function row({ name, growthBytes, megabytesPerSecond, ofCurl }: DownloadResult) {
	return {
		download: name,
		'memory growth (MB)': fixed(growthBytes / 1024 ** 2, 0),
		'MB/s': fixed(megabytesPerSecond, 0),
		'of curl': fixed(ofCurl, 2),
	};
}
