import type { IExecuteFunctions } from 'n8n-workflow';

import type { CreateRequest } from '../../../client/api/client';
import { isCompleted, type Generation } from '../../../client/api/generation';
import type { Plan } from '../form/plan-items';
import { download, type DownloadRequest } from '../http/download';
import { defaultFileName, outputFileName } from './file-name';
import type { Output } from './results';

/**
 * Downloads the output of a completed generation, if its item asks for it.
 *
 * @throws as `download`
 */
export async function fetchOutput(
	context: IExecuteFunctions,
	{ download: target, job, draft }: Plan,
	finished: Pick<DownloadRequest, 'generation' | 'signal' | 'refresh' | 'limited' | 'hold'>,
): Promise<{ generation: Generation; output: Output | null }> {
	const { generation } = finished;
	if (target === null || !isCompleted(generation)) return { generation, output: null };
	const creating = job.kind === 'create' ? job : null;
	const prompt = promptOf(creating ? creating.draft : draft);
	const fetched = await download(context, {
		...finished,
		patienceMs: job.timeoutMs,
		fileName:
			target.fileName === null
				? defaultFileName(prompt, generation.item)
				: outputFileName(target.fileName, creating?.outputIndex ?? 0),
	});
	return {
		generation: fetched.generation,
		output: { propertyName: target.propertyName, binary: fetched.binary },
	};
}

function promptOf(draft: CreateRequest | undefined): string | null {
	const { prompt } = (draft?.body ?? {}) as { prompt?: unknown };
	return typeof prompt === 'string' ? prompt : null;
}
