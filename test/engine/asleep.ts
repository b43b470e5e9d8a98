import { wallClock } from '../../nodes/shared/http/clock';
import type { Run } from '../../tools/engine';
import type { Stage } from './stage';

/** The execution of the helper workflow that a sleeping execution waits for: that of a step is the guard. */
export function helperOf(stage: Stage, asleep: Run): Run {
	const [task] = asleep.record.state.data.executionData?.nodeExecutionStack ?? [];
	const [id] = task.metadata?.waitingChildExecutionIds ?? [];
	const helper = stage.engine.execution(id);
	if (!helper) throw new Error('It waits for no other execution');
	return helper;
}

/** The execution of the waves of a sleeping step. */
export function wavesOf(stage: Stage, asleep: Run): Run {
	return helperOf(stage, helperOf(stage, asleep));
}

/** The execution that n8n resumes next: all others wait for it in a chain. */
export function nextOf(stage: Stage, asleep: Run): Run {
	let last = asleep;
	while (childrenOf(last).length > 0) last = helperOf(stage, last);
	return last;
}

/** Advances the clock to the time when the next wave of a sleeping step is due, and resumes that wave. */
export async function wake(stage: Stage, asleep: Run): Promise<Run> {
	const at = nextOf(stage, asleep).waitTill?.getTime() ?? 0;
	stage.leap(Math.max(0, at - wallClock.now()) / 1000);
	return await stage.engine.resume(asleep);
}

/** Resumes the next wave of a sleeping step, and the workflow that fetches its results if that was the last wave. */
export async function wakeThrough(stage: Stage, asleep: Run): Promise<Run> {
	const run = await wake(stage, asleep);
	const isLast =
		run.status === 'waiting' && nextOf(stage, run).record.workflow.name?.endsWith(': results');
	return isLast ? await wake(stage, run) : run;
}

/** Runs all waves of a sleeping step. */
export async function sleepToEnd(stage: Stage, asleep: Run): Promise<Run> {
	let last = asleep;
	while (last.status === 'waiting') last = await wake(stage, last);
	return last;
}

/** Ends an execution as when n8n is killed: only n8n's crash mark remains. */
export function kill(
	{ record: { state } }: Run,
	message = 'Workflow did not finish, possible out-of-memory issue',
): void {
	state.status = 'crashed';
	state.data.resultData.error = Object.assign(new Error(message), { name: 'Crashed' }) as never;
}

/** Ends the execution of the waves, or of the results, as when n8n is killed. */
export function killWave(stage: Stage, asleep: Run, message?: string): void {
	kill(nextOf(stage, asleep), message);
}

function childrenOf({ record }: Run): string[] {
	const [task] = record.state.data.executionData?.nodeExecutionStack ?? [];
	return task?.metadata?.waitingChildExecutionIds ?? [];
}
