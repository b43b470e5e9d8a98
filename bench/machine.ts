import { cpus, totalmem } from 'node:os';

/** What figures were measured on. */
export interface Machine {
	cores: number;
	model: string;
	memoryGiB: number;
}

/** The machine that this runs on. */
export function thisMachine(): Machine {
	const [{ model }] = cpus();
	return { cores: cpus().length, model, memoryGiB: Math.round(totalmem() / 1024 ** 3) };
}

/** Today's date, as it is written beside figures. */
export function today(): string {
	return new Date().toISOString().slice(0, 10);
}
