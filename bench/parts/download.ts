import { startSandbox } from '../../sandbox/server';
import { runDownload, type DownloadCase, type DownloadResult } from '../download';
import { fixed } from '../figures';
import type { Part } from '../part';
import type { ProfileShares } from '../profile';
import { printTable, type Row } from '../table';

const DOWNLOADS: DownloadCase[] = [
	{ name: 'one file of 1 GiB', files: 1, size: '1GB' },
	{ name: '20 files of 50 MB at once', files: 20, size: '50MB' },
];

interface Result {
	rows: Array<ReturnType<typeof row>>;
	/** How the node spent its time, by the name of the download. */
	shares: Record<string, ProfileShares>;
}

/** Downloads into n8n's storage, compared with curl and with n8n's helpers alone. */
export const download: Part<Result> = {
	name: 'download',
	async run() {
		const sandbox = await startSandbox({ timeScale: 100 });
		try {
			const service = { url: sandbox.url, key: sandbox.keys.hero };
			const results = [];
			for (const shape of DOWNLOADS) results.push(await runDownload(service, shape));
			const rows = results.map(row);
			printTable('Downloads into n8n’s storage (filesystem)', rows);
			const shares = Object.fromEntries(results.map((result) => [result.name, result.shares]));
			printTable('Where the node’s time goes', whereItGoes(shares));
			return { rows, shares };
		} finally {
			await sandbox.close();
		}
	},
	tables: ({ rows, shares }) => ({
		download: rows.map((each) => ({
			'': each.download,
			'additional memory': `${each['memory growth (MB)']} MB`,
			'of curl’s speed': each['of curl'].toFixed(2),
			'n8n’s helpers alone': each['helpers of curl'].toFixed(2),
			'read and thrown away': each['reading of curl'].toFixed(2),
		})),
		'download-time': whereItGoes(shares),
	}),
};

function row({ name, growthBytes, megabytesPerSecond, ofCurl }: DownloadResult) {
	return {
		download: name,
		'memory growth (MB)': fixed(growthBytes / 1024 ** 2, 0),
		'MB/s': fixed(megabytesPerSecond, 0),
		'of curl': fixed(ofCurl.node, 2),
		'helpers of curl': fixed(ofCurl.helper, 2),
		'reading of curl': fixed(ofCurl.reading, 2),
	};
}

/** Returns a row for each kind of work, with a column for each download. */
function whereItGoes(shares: Result['shares']): Row[] {
	const [first] = Object.values(shares);
	return Object.keys(first).map((kind) => ({
		'time goes into': kind,
		...Object.fromEntries(
			Object.entries(shares).map(([name, of]) => [
				name,
				`${fixed(of[kind as keyof ProfileShares] * 100, 0)} %`,
			]),
		),
	}));
}
