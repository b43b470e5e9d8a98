import type { Model } from '../models/model';
import { normalFrom } from '../basics/random';
import type { Random } from '../basics/random';

/** The values that a generation time can depend on. `index` counts the generations from 0. */
interface TimedGeneration {
	readonly model: Model;
	readonly prompt: string;
	readonly index: number;
	readonly random: Random;
}

/** Returns the duration of a generation in seconds, before the time scale. */
export type GenerationTime = (generation: TimedGeneration) => number;

/** Returns log-normal times around a median in seconds. `sigma` is the standard deviation of the logarithm. */
export function logNormal(medianSeconds: number, sigma: number): GenerationTime {
	return ({ random }) => medianSeconds * Math.exp(sigma * normalFrom(random));
}

/** Returns the model's stated average, plus or minus about a third (spec 2.2, `avg_speed_seconds`). */
const aboutAverage: GenerationTime = ({ model, random }) => {
	const spread = Math.exp(0.25 * normalFrom(random));
	return model.averageSeconds * Math.min(2, Math.max(0.5, spread));
};

/** Converts the option to a function: fixed seconds, a function, or by default about the average. */
export function timeFrom(option: number | GenerationTime | undefined): GenerationTime {
	if (typeof option === 'number') return () => option;
	return option ?? aboutAverage;
}
