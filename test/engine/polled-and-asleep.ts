import type { IDataObject, INodeParameters, NodeApiError } from 'n8n-workflow';

import type { Run } from '../../tools/engine';
import { sleepToEnd } from './asleep';
import { openKeyedStage } from './keyed';

/** How many times faster than the wall clock time runs: polling takes minutes. */
const PACE = 400;

/** A batch that is run twice: polled, and asleep. */
interface Batch {
	list: IDataObject[];
	parameters?: INodeParameters;
	options?: IDataObject;
	runOptions?: IDataObject;
	settings?: IDataObject;
	/** Runs before each of the two, such as an earlier execution with the same keys. */
	before?: () => unknown;
}

/** Returns a text without what differs in every run: ids. */
function withoutIds(value: unknown): unknown {
	const text = (JSON.stringify(value) ?? 'null')
		.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
		.replace(/-[0-9a-f]{8}\.png/g, '-ID.png')
		.replace(/Execution \d+/g, 'Execution ID');
	return JSON.parse(text) as unknown;
}

/** Opens a stage, and returns a function that runs a batch with `whileWaiting: poll` and `suspend`, with an empty table. */
export function openComparison() {
	const keyed = openKeyedStage();
	const { stage, tables, created, execute } = keyed;

	async function run(whileWaiting: string, batch: Batch) {
		stage.reset();
		stage.setPace(PACE);
		tables.reset();
		await batch.before?.();
		const before = created();
		stage.sandbox.requests.clear();
		const parameters = {
			options: { idempotencyKey: '={{ $json.key }}', ...batch.options },
			runOptions: { maxConcurrent: 2, ...batch.runOptions, whileWaiting },
			...batch.parameters,
		} as INodeParameters;
		const first = await execute(batch.list, parameters, batch.settings);
		const end = await sleepToEnd(stage, first);
		return {
			error: end.error && withoutIds([end.error.message, (end.error as NodeApiError).description]),
			hasSlept: first.status === 'waiting',
			created: created() - before,
			mostInFlight: mostInFlight(),
			end,
			output: withoutIds(outputOf(end)),
			hints: withoutIds(end.hints('Step')),
		};
	}

	/** The highest number of generations that the service ran at the same time. */
	function mostInFlight(): number {
		const { generations } = stage.sandbox.books;
		const atStartOf = (start: number) =>
			generations.filter(({ created: from, finishes }) => from <= start && finishes > start).length;
		return Math.max(0, ...generations.map(({ created: start }) => atStartOf(start)));
	}

	return {
		...keyed,
		compare: async (batch: Batch) => ({
			polled: await run('poll', batch),
			asleep: await run('suspend', batch),
		}),
	};
}

/** What a workflow reads of the output of a step: all but times and presigned URLs. */
function outputOf(run: Run) {
	return run.output('Step').map(({ json, binary, pairedItem }) => {
		const { generation, ...own } = json;
		// With Include Other Input Fields, the generation is in one of its fields.
		const keys = (generation ?? own) as IDataObject;
		const { created, url, url_expires_at: expiry, ...others } = keys;
		const files = Object.entries(binary ?? {}).map(([field, { fileName, mimeType }]) => ({
			field,
			fileName,
			mimeType,
		}));
		const known = [created, url, expiry].map(Boolean);
		return { own: generation ? own : null, ...others, known, files, pairedItem };
	});
}
