import type { Clock } from '../basics/clock';
import { isObject } from '../basics/fields';
import type { Generation } from './generations';
import { fetchInput } from './input-fetch';
import type { InputFetching } from './input-fetch';
import { startFrom } from '../media/start-picture';
import { startUrl } from './start';

/** Returns the URLs in a creating request (spec 4.1, 4.2), by their names. */
function inputUrls(body: Readonly<Record<string, unknown>>): Array<[name: string, url: string]> {
	const found: Array<[string, unknown]> = [['image_url', body.image_url]];
	const images = Array.isArray(body.input_images) ? (body.input_images as unknown[]) : [];
	images.forEach((url, index) => found.push([`input_images[${index}]`, url]));
	const inputs = Array.isArray(body.inputs) ? (body.inputs as unknown[]) : [];
	inputs.forEach((input, index) => {
		if (!isObject(input) || input.source !== 'url') return;
		found.push([`inputs[${index}].value`, input.value]);
	});
	return found.filter(
		(one): one is [string, string] => typeof one[1] === 'string' && /^https?:/i.test(one[1]),
	);
}

/** Fetches the files of a request while its generation runs. It fails if one cannot be fetched, and is refunded. */
export async function fetchInputs(
	generation: Generation,
	how: InputFetching | null,
	clock: Clock,
	changed: (generation: Generation) => void,
): Promise<void> {
	const urls = how === null ? [] : inputUrls(generation.request);
	if (how === null || urls.length === 0) return;
	const plannedEnd = generation.finishAt;
	generation.finishAt = Infinity;
	let { output } = generation;
	const start = startUrl(generation.request);
	for (const [name, url] of urls) {
		const { content, ...fetched } = await fetchInput(name, url, how);
		generation.fetched.push(fetched);
		if (!content || name !== start?.[0] || output.type !== 'video' || output.start) continue;
		output = await startFrom(output, content);
	}
	// A test has ended it meanwhile.
	if (generation.finishAt !== Infinity) return;
	const missing = generation.fetched.find(({ trouble }) => trouble !== null);
	if (missing) {
		const reason = `The file in ${missing.name} could not be fetched: ${missing.trouble}.`;
		generation.failure = { reason, asText: false, code: 'input_not_fetched' };
	}
	generation.output = output;
	generation.finishAt = missing ? clock.now() : Math.max(clock.now(), plannedEnd);
	try {
		changed(generation);
	} catch (error) {
		// Nobody waits for this function: an error that it throws would end the process.
		process.emitWarning(`The end of ${generation.id} could not be stored: ${String(error)}`);
	}
}
