import { exampleFile, shortPath } from './demo';
import type { DemoResult } from './demo';
import type { SavedFile } from './files';
import { kindOf } from './timeline';

/** Returns the final report: the files, their cost and the next steps. */
export function report({ files, generations, before, after }: DemoResult): string[] {
	const width = Math.max(...files.map(({ path }) => shortPath(path).length));
	const lines = files.map((file) => {
		const entry = generations.find(({ id }) => id === file.generationId);
		const price = entry ? `, ${count(entry.charged - entry.refunded)} credits` : '';
		const path = shortPath(file.path).padEnd(width);
		return `  ${nameOf(file)}  ${path}  ${factsOf(file)}${price}`;
	});
	const spent = generations.reduce((sum, { charged, refunded }) => sum + charged - refunded, 0);
	const made = generations.map((entry) => kindOf(entry)).join(', ');
	return [
		'',
		...lines,
		`  Credits  ${count(before)} before, ${count(after)} after: ${count(spent)} spent (${made})`,
		'',
		'Next',
		`  ${exampleFile}  import it into n8n: Import from File, in the menu of the editor`,
		'  npm run sandbox     the service by itself: put its URL and an API key into a credential',
		'  npm start           a real n8n in your browser, with the nodes, this service and all examples',
	];
}

function nameOf({ video }: SavedFile): string {
	return (video ? 'Video' : 'Picture').padEnd(7);
}

function factsOf({ width, height, bytes, video }: SavedFile): string {
	const time = video ? [`${video.seconds} s`, `${video.framesPerSecond} fps`] : [];
	return [`${width} x ${height}`, ...time, `${Math.ceil(bytes / 1000)} kB`].join(', ');
}

function count(value: number): string {
	return value.toLocaleString('en-US');
}
