import { isCompleted, takeInlineFile, type Generation } from '../../../client/api/generation';
import type { Plan } from '../form/plan-items';
import { download, type DownloadRequest } from '../http/download';
import { defaultFileName, outputFileName } from './file-name';
import type { Output } from './results';
import type { Step } from '../step';

/** Downloads the output of a completed generation, if its item asks for the file. Otherwise, `output` is `null`. */
export async function fetchOutput(
	step: Step,
	plan: Plan,
	finished: Omit<DownloadRequest, 'fileName' | 'patienceMs'>,
): Promise<{ generation: Generation; output: Output | null }> {
	const { generation } = finished;
	const { download: target, job } = plan;
	if (target === null || !isCompleted(generation)) {
		takeInlineFile(generation);
		return { generation, output: null };
	}
	const outputIndex = job.kind === 'create' ? job.outputIndex : 0;
	const fetched = await download(step, {
		...finished,
		patienceMs: job.timeoutMs,
		fileName:
			target.fileName === null
				? defaultFileName(plan.prompt, generation.item)
				: outputFileName(target.fileName, outputIndex ?? 0),
	});
	return {
		generation: fetched.generation,
		output: { propertyName: target.propertyName, binary: fetched.binary },
	};
}
