import type { Host } from './host';
import type { Life } from './life';
import { dataOf, isFinal, type ExecutionData, type ExecutionRecord } from './records';

/** What n8n puts in place of an output that was not stored. */
const ARTIFICIAL = { main: [[{ json: { isArtificialRecoveredEventItem: true } }]] };

/**
 * n8n's crash recovery after a start: marks as crashed every execution that has begun and not ended, by its event log and
 * its database. A sleeping one sleeps again a moment later, with the data that were read before.
 */
export async function recover(n8n: Host, life: Life, amendMs: number): Promise<void> {
	const unfinished = [...n8n.records.values()].filter(
		(record) => !record.isDeleted && (record.status === 'running' || isOpen(record)),
	);
	for (const record of unfinished) {
		await life.sleep(n8n.databaseMs);
		if (record.hasEndEvent) record.status = 'crashed';
		else await amend(life, record, amendMs);
	}
}

/** True if n8n's event log has the beginning of the execution, and not its end. */
function isOpen({ events, hasEndEvent }: ExecutionRecord): boolean {
	return events.size > 0 && !hasEndEvent;
}

async function amend(life: Life, record: ExecutionRecord, amendMs: number): Promise<void> {
	if (record.events.size === 0 || (isFinal(record) && record.status !== 'crashed')) return;
	if (!record.data) {
		record.status = 'crashed';
		return;
	}
	const { waitTill } = record;
	const data = dataOf(record);
	addLostRuns(record, data);
	await life.sleep(amendMs);
	record.status = 'crashed';
	record.data = JSON.stringify(data);
	await life.sleep(amendMs);
	// n8n then stores it once more, as it does when an execution goes to sleep.
	if (waitTill === null || record.isDeleted) return;
	record.status = 'waiting';
	record.waitTill = waitTill;
	record.data = JSON.stringify(data);
}

/** Adds the nodes that ran without being stored. */
function addLostRuns({ workflow, events }: ExecutionRecord, { resultData }: ExecutionData): void {
	for (const { name } of workflow.nodes) {
		const event = events.get(name);
		if (!event || resultData.runData[name] !== undefined) continue;
		const crashed = { message: 'Execution stopped at this node', name: 'NodeCrashedError' };
		resultData.runData[name] = [
			event === 'finished' ? { data: ARTIFICIAL } : { data: {}, error: crashed },
		];
		resultData.lastNodeExecuted = name;
		if (event === 'finished') continue;
		const message = 'Workflow did not finish, possible out-of-memory issue';
		resultData.error = { message, name: 'WorkflowCrashedError' };
	}
}
