import { runSimulatedChaos } from '../chaos/simulated';
import { chaosTable, type Chaos } from '../chaos/table';
import type { Part } from '../part';
import { printTable } from '../table';

const EXECUTIONS = 2000;

/** The same load and the same faults of the service and its storage, with killed workers, in virtual time. */
export const chaosSimulated: Part<Chaos> = {
	name: 'chaos-simulated',
	onlyAsked: true,
	async run() {
		const result = await runSimulatedChaos(EXECUTIONS);
		printTable('Load and trouble of every kind, in virtual time', chaosTable(result));
		return result;
	},
	tables: (result) => ({ 'chaos-simulated': chaosTable(result) }),
};
