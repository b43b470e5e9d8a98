import type { Answer, CreateFate, LookFate, Schedule, Settings, Try } from './schedule';

/** Describes a schedule in words, so that a counterexample is easy to follow. */
export function tellSchedule({ items, tries, ...rest }: Schedule): string {
	const { outputs, concurrency, seconds, pollSeconds, readiness, storage, seed } = rest;
	return [
		`${items.length} outputs, ${outputs} an item: ${items.map(({ type, prompt }) => `${type} ${prompt}`).join(', ')}`,
		`the account may have ${concurrency} at once; generations take ${seconds.join(', ')} s`,
		`looks every ${pollSeconds} s, readiness ${readiness}, a storage that is ${storage}; seed ${seed}`,
		...tries.flatMap((one, index) => [
			`try ${index + 1}: ${tellSettings(one.settings)}`,
			...tellTry(one).map((line) => `  ${line}`),
		]),
	].join('\n');
}

export function tellSettings(settings: Settings): string {
	const { onUncertainCharge, stopOnError, onTimeout, wait, maxConcurrent } = settings;
	const { retriesOnFailure, fallbacks, maxNewGenerations, maxCredits, minimumBalance } = settings;
	return [
		`on uncertain charge ${onUncertainCharge}`,
		stopOnError ? 'stop on error' : 'continue on error',
		`${wait ? 'wait' : 'do not wait'}, ${settings.timeoutSeconds} s, then ${onTimeout}`,
		`${maxConcurrent} at once`,
		`${retriesOnFailure} retries, ${fallbacks} fallback models`,
		`at most ${maxNewGenerations ?? 'any'} new ones, for ${maxCredits ?? 'any'} credits, while ${minimumBalance ?? 'any'} credits are left`,
	].join('; ');
}

function tellTry(one: Try): string[] {
	const { creates, looks, outages, load, cancel, brokenDownloads, brokenItems } = one;
	const lines: Array<[name: string, told: string[]]> = [
		['creates', creates.map(tellCreate)],
		['every generation', one.failing ? ['fails'] : []],
		['looks', looks.map(tellLook)],
		[
			'outages',
			outages.map((outage) => {
				const { fromSeconds, seconds, answer } = outage;
				return `from ${fromSeconds} s for ${seconds} s ${tellAnswer(answer)}`;
			}),
		],
		['others', load.map(({ atSeconds, occupied }) => `from ${atSeconds} s on ${occupied}`)],
		['stop', cancel ? [`${cancel.when} ${cancel.value}`] : []],
		['broken downloads', brokenDownloads.map(String)],
		['items that cannot be built', brokenItems.map(String)],
		['building takes', one.buildMs > 0 ? [`${one.buildMs} ms`] : []],
		['journal', [one.journal]],
		['pause', one.pauseSeconds > 0 ? [`${one.pauseSeconds} s`] : []],
	];
	return lines
		.filter(([, told]) => told.length > 0)
		.map(([name, told]) => `${name}: ${told.join(' | ')}`);
}

function tellCreate({ work, answer, ms }: CreateFate): string {
	if (work === 'done' && answer.kind === 'own' && ms === 40) return 'made';
	return `${work}, ${tellAnswer(answer)} after ${ms} ms`;
}

function tellLook({ answer, ms }: LookFate): string {
	return `${tellAnswer(answer)} after ${ms} ms`;
}

export function tellAnswer(answer: Answer): string {
	const asks =
		'retryAfter' in answer && answer.retryAfter ? `, Retry-After ${answer.retryAfter}` : '';
	return `${nameOf(answer)}${asks}`;
}

function nameOf(answer: Answer): string {
	switch (answer.kind) {
		case 'own':
			return 'answered';
		case 'refusal':
			return answer.code;
		case 'foreign':
			return answer.name;
		case 'none':
			return `broken: ${answer.how}`;
	}
}
