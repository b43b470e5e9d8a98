import { cpus, totalmem } from 'node:os';

/** The machine on which figures were measured. */
export interface Machine {
	cores: number;
	model: string;
	memoryGiB: number;
}

/** Returns the machine that this process runs on. */
export function thisMachine(): Machine {
	const [{ model }] = cpus();
	return { cores: cpus().length, model, memoryGiB: Math.round(totalmem() / 1024 ** 3) };
}

/** Returns today's date in the format that is written next to figures. */
export function today(): string {
	return new Date().toISOString().slice(0, 10);
}
