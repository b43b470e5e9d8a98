import type { CreateJob, Job } from '../../../client/jobs/job';
import { runsAsTool } from '../execution';
import { OUTPUT_FIELD } from './fields';
import type { Values } from './form';
import type { Plan } from './plan-items';
import type { Step } from '../step';

/** Turns settings that several nodes have into properties of a job. The checks of the fields guarantee the types below. */

/** The checked values of fields that several nodes have. `null`: empty, or not added. */
export interface Settings extends Values {
	waitForCompletion: boolean | null;
	downloadOutput: boolean | null;
	binaryPropertyName: string | null;
	fileName: string | null;
	readiness: Job['readiness'] | null;
	timeout: number | null;
	onTimeout: Job['onTimeout'] | null;
	numberOfOutputs: number | null;
	additionalFields: object | null;
	idempotencyKey: string | null;
	newOnChange: boolean | null;
	keyScope: string | null;
	onUncertainCharge: CreateJob['onUncertainCharge'] | null;
	retriesOnFailure: number | null;
	fallbackModels: string[] | null;
}

/** In seconds. Clients of n8n's MCP Server Trigger give up after 60 s, and their agent may then create and pay again. */
const TOOL_TIMEOUT = 45;

/**
 * How to wait for one generation, and where its download goes (`null`: the output is not downloaded). A tool answers within
 * a minute, unless the user has set a longer timeout, and returns JSON only. `defaultTimeout`: in seconds.
 */
export function deliveryOf(
	step: Step,
	settings: Settings,
	defaultTimeout: number,
): {
	waiting: Pick<Job, 'readiness' | 'timeoutMs' | 'onTimeout' | 'countsFromStart'>;
	download: Plan['download'];
} {
	const { timeout, onTimeout, readiness, downloadOutput, binaryPropertyName, fileName } = settings;
	const isTool = runsAsTool(step);
	const isLeftOut = downloadOutput === false || isTool;
	return {
		waiting: {
			readiness: readiness ?? 'auto',
			timeoutMs: 1000 * (timeout ?? (isTool ? TOOL_TIMEOUT : defaultTimeout)),
			onTimeout: onTimeout ?? (isTool ? 'continue' : 'error'),
			...(isTool && { countsFromStart: true }),
		},
		download: isLeftOut ? null : { propertyName: binaryPropertyName ?? OUTPUT_FIELD, fileName },
	};
}
