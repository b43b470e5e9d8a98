import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { toResult } from '../../client/async';
import { CREDENTIAL } from '../../nodes/shared/http/credential';
import { stepIn } from '../../nodes/shared/step';
import { connect } from '../../nodes/shared/http/transport';
import { bareNode } from '../../tools/engine/bare-node';
import { inARow } from '../../tools/engine/in-a-row';
import { openStage } from './stage';

/** The action of the node under test. Each test sets it. */
let act: (context: IExecuteFunctions) => Promise<IDataObject>;

const actor = bareNode('actor', {
	description: { credentials: [{ name: CREDENTIAL, required: true }] },
	async execute() {
		return [[{ json: await act(this) }]];
	},
});
const stage = openStage({ extraNodes: { 'test.actor': actor } });

async function acting(what: typeof act): Promise<IDataObject> {
	act = what;
	const run = await stage.runWorkflow(inARow({ name: 'Step', type: 'test.actor' }), {});
	expect(run.error).toBeUndefined();
	return run.output('Step')[0].json;
}

async function until(holds: () => boolean): Promise<void> {
	while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Waits until the sandbox has seen its clients disconnect. */
async function left(on: 'status' | 'create'): Promise<void> {
	await until(() => stage.sandbox.requests.on(on).every(({ answered }) => !answered));
}

const trickle = { kind: 'trickle', everyMs: 500 } as const;
const hang = { kind: 'hang' } as const;

describe('an aborted request', () => {
	it.each([trickle, hang])('is closed even if its response never ends: $kind', async (action) => {
		const id = await stage.made('a boat');
		stage.sandbox.faults.order({ on: 'status', action });
		const look = new AbortController();
		const { failed } = await acting(async (context) => {
			const send = await connect(stepIn(context));
			const path = `/v1/generations/${id}`;
			const asking = toResult(async () => await send({ method: 'GET', path }, look.signal));
			await until(() => stage.sandbox.requests.on('status').length > 0);
			look.abort();
			return { failed: !(await asking).ok };
		});
		expect(failed).toBe(true);
		await left('status');
	});
});
