import type { IDataObject } from 'n8n-workflow';

import { planImage } from '../../../nodes/ImageGeneration/request';
import type { PlanItem } from '../../../nodes/shared/form/plan-items';
import { planVideo } from '../../../nodes/VideoGeneration/request';
import { planWait } from '../../../nodes/WaitForCompletion/request';
import { contextOf } from '../../support/context';

const make = { model: 'aurora', prompt: 'A boat' };
const creating = { kind: 'create', idempotencyKey: null, onUncertainCharge: 'error' };

/** Options that are added to the form and left empty. */
const options = [
	...['additionalFields', 'fileName', 'generationField', 'idempotencyKey', 'includeOtherFields'],
];
const runOptions = [
	...['maxConcurrent', 'onTimeout', 'onUncertainCharge', 'pollInterval', 'readiness', 'timeout'],
	...['retriesOnFailure', 'fallbackModels'],
];
const left = (empty: unknown): IDataObject => {
	const each = (names: string[]) =>
		Object.fromEntries(names.map((name) => [name, empty])) as IDataObject;
	return {
		options: each(options),
		runOptions: each(runOptions),
		...each(['waitForCompletion', 'downloadOutput', 'mode', 'numberOfOutputs']),
	};
};

describe.each<[string, PlanItem, IDataObject, IDataObject, seconds: number]>([
	['an image', planImage, make, creating, 600],
	['a video', planVideo, make, creating, 1800],
	['a wait', planWait, { generationId: 'an-id' }, { kind: 'collect', id: 'an-id' }, 1800],
])('%s of which no more is said than it takes', (_, plan, required, job, seconds) => {
	it.each([{}, left(null), left(''), left(' ')])(
		'is waited for, downloaded, and bounded as the contract says: %j',
		async (chosen) => {
			const { step } = contextOf({ parameters: { ...chosen, ...required } });
			const plans = await plan(step, 0);
			expect(plans).toHaveLength(1);
			expect(plans[0]).toMatchObject({
				job: {
					...job,
					wait: true,
					readiness: 'auto',
					timeoutMs: seconds * 1000,
					onTimeout: 'error',
				},
				download: { propertyName: 'data', fileName: null },
			});
		},
	);
});
