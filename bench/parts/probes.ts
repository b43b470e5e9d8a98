import { startSandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { fixed } from '../figures';
import type { Part } from '../part';
import { runProbes, type ProbesResult } from '../probes';
import { printTable } from '../table';

interface Result {
	rows: Array<ReturnType<typeof row>>;
}

/** What probing for outputs that do not exist yet costs n8n. */
export const probes: Part<Result> = {
	name: 'probes',
	async run() {
		const sandbox = await startSandbox();
		try {
			const rows = (await runProbes(await pendingUrl(sandbox.url, sandbox.keys.hero))).map(row);
			printTable('Looking for the first byte of 32 outputs that are not there yet', rows);
			return { rows };
		} finally {
			await sandbox.close();
		}
	},
	tables: ({ rows }) => ({
		probes: rows.map((each) => ({
			storage: each.storage,
			'probes a second': each['probes a second'],
			'CPU for one': `${each['CPU per probe (ms)'].toFixed(2)} ms`,
			'CPU cores used by n8n': each['of one core'].toFixed(3),
		})),
	}),
};

/** Returns the presigned URL of an output that will not exist for hours. */
async function pendingUrl(service: string, key: string): Promise<string> {
	const { data: made } = await http.post<{ data: Array<{ url: string }> }>(
		`${service}/v1/images/generations`,
		{ model: 'lumen-turbo', prompt: 'a boat [seconds: 9999]' },
		{ headers: { authorization: `Bearer ${key}` } },
	);
	return made.data[0].url;
}

function row({ name, probesPerSecond, cpuMsPerProbe, ofOneCore }: ProbesResult) {
	return {
		storage: name,
		'probes a second': fixed(probesPerSecond, 1),
		'CPU per probe (ms)': fixed(cpuMsPerProbe, 2),
		'of one core': fixed(ofOneCore, 3),
	};
}
