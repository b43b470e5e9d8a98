/** Option parsers shared by the programs that start a sandbox. */
import { InvalidArgumentError } from 'commander';

function refuse(what: string): never {
	throw new InvalidArgumentError(`It must be ${what}.`);
}

/** Returns `NaN` for a blank text, which `Number` converts to 0, and for `Infinity`. */
function finiteFrom(text: string): number {
	const number = text.trim() === '' ? NaN : Number(text);
	return Number.isFinite(number) ? number : NaN;
}

/** Parses a number of at least 0. Throws an error that commander shows to the user. */
export function numberFrom(text: string): number {
	const number = finiteFrom(text);
	return number >= 0 ? number : refuse('a number of at least 0');
}

/** Parses a number above 0. Throws an error that commander shows to the user. */
export function factorFrom(text: string): number {
	const factor = finiteFrom(text);
	return factor > 0 ? factor : refuse('a number above 0');
}

/** Parses a port of at least `lowest`. 0 means any free port. Throws an error that commander shows to the user. */
export function portFrom(lowest: 0 | 1): (text: string) => number {
	return (text) => {
		const port = Number(text);
		const fits = /^\d{1,5}$/.test(text) && port >= lowest && port <= 65_535;
		return fits ? port : refuse(`a whole number from ${lowest} to 65535`);
	};
}
