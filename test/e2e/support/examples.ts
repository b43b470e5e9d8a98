import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { readWorkflowFile } from '../../../tools/n8n/rest';
import type { Credential, Workflow, WorkflowFile } from '../../../tools/n8n/rest';
import { errorOf } from '../../../tools/n8n/executions';
import type { Execution } from '../../../tools/n8n/executions';
import type { Stage } from './stage';
import { repository } from './surroundings';

/** The trigger that the editor's button starts. */
export const button = 'When clicking ‘Execute workflow’';

/** Reads an example from its file. */
export async function readExample(name: string): Promise<WorkflowFile> {
	return await readWorkflowFile(join(repository, 'examples', `${name}.json`));
}

/** Options for running an example. */
interface Play {
	/** Credentials for third-party nodes. */
	credentials?: Credential[];
	trigger?: string;
	/** The output of the trigger. */
	json?: IDataObject;
	timeoutMs?: number;
	/** Requires that the execution is suspended on the way. */
	sleeps?: boolean;
}

/** Imports an example, fills in its credentials, and runs it until it ends successfully. */
export async function play(
	stage: Stage,
	file: WorkflowFile,
	{ credentials = [], ...how }: Play = {},
): Promise<Execution> {
	return await playAgain(stage, await stage.save(file, ...credentials), how);
}

/** Runs an imported workflow until it ends successfully. */
export async function playAgain(
	stage: Stage,
	workflow: Workflow,
	{ trigger = button, json, timeoutMs, sleeps = false }: Omit<Play, 'credentials'> = {},
): Promise<Execution> {
	const id = await stage.executions.run(workflow, trigger, json);
	if (sleeps) await stage.executions.asleep(id);
	const execution = await stage.executions.ended(id, timeoutMs);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	return execution;
}
