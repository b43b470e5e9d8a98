/** What the command lines of programs that start a sandbox have in common. */
import { InvalidArgumentError } from 'commander';

function refuse(what: string): never {
	throw new InvalidArgumentError(`It must be ${what}.`);
}

/** Reads a number from 0. Throws what commander says to the user. */
export function numberFrom(text: string): number {
	const number = Number(text);
	return text !== '' && number >= 0 ? number : refuse('a number');
}

/** Reads a number above 0. Throws what commander says to the user. */
export function factorFrom(text: string): number {
	const factor = Number(text);
	return factor > 0 ? factor : refuse('a number above 0');
}

/** Reads a port, from 1, or from 0 where that means a free one. Throws what commander says to the user. */
export function portFrom(lowest: 0 | 1): (text: string) => number {
	return (text) => {
		const port = Number(text);
		const fits = /^\d{1,5}$/.test(text) && port >= lowest && port <= 65_535;
		return fits ? port : refuse(`a whole number from ${lowest} to 65535`);
	};
}
