import type { Model } from '../models/model';
import { normalFrom } from '../basics/random';
import type { Random } from '../basics/random';

/** What a generation time may depend on. `index` counts the generations from 0. */
export interface TimedGeneration {
	readonly model: Model;
	readonly prompt: string;
	readonly index: number;
	readonly random: Random;
}

/** Gives the seconds a generation takes, before the time scale. */
export type GenerationTime = (generation: TimedGeneration) => number;

/** Log-normal times around a median in seconds; `sigma` is the deviation of the logarithm. */
export function logNormal(medianSeconds: number, sigma: number): GenerationTime {
	return ({ random }) => medianSeconds * Math.exp(sigma * normalFrom(random));
}

/** The model's stated average, give or take a third or so (spec 2.2, `avg_speed_seconds`). */
const aboutAverage: GenerationTime = ({ model, random }) => {
	const spread = Math.exp(0.25 * normalFrom(random));
	return model.averageSeconds * Math.min(2, Math.max(0.5, spread));
};

/** Generation times from an option: fixed seconds, a function, or about the average. */
export function timeFrom(option: number | GenerationTime | undefined): GenerationTime {
	if (typeof option === 'number') return () => option;
	return option ?? aboutAverage;
}
