import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { readWorkflowFile } from '../n8n/rest';
import type { WorkflowFile } from '../n8n/rest';

/** The address of the service in the examples. */
const exampleAddress = 'https://api.example.com';

/** The example that is about sleeping, and how long its generations take, so that there is something to sleep for. */
const sleeper = 'submit-now-collect-later.json';
const sleeperSeconds = 100;

/** The sandbox that the examples are to run against. */
export interface Surroundings {
	baseUrl: string;
	/** Divides the times that generations take. */
	timeScale: number;
}

/** Every example, in order, as it is to be run against the sandbox. */
export async function readExamples(
	folder: string,
	{ baseUrl, timeScale }: Surroundings,
): Promise<WorkflowFile[]> {
	const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
	const files = names.map(async (name) => {
		const file = withAddress(await readWorkflowFile(join(folder, name)), baseUrl);
		return name === sleeper ? taking(sleeperSeconds * timeScale, file) : file;
	});
	return await Promise.all(files);
}

/** The types of the credentials that an example names. */
export function credentialTypes({ nodes }: Pick<WorkflowFile, 'nodes'>): Set<string> {
	const all = nodes as Array<Pick<INode, 'credentials'>>;
	return new Set(all.flatMap(({ credentials = {} }) => Object.keys(credentials)));
}

function withAddress(file: WorkflowFile, address: string): WorkflowFile {
	return JSON.parse(JSON.stringify(file).replaceAll(exampleAddress, address)) as WorkflowFile;
}

/** Asks the sandbox for so many seconds, in the prompts of the workflow's table. */
function taking(seconds: number, file: WorkflowFile): WorkflowFile {
	const asked = (json: unknown) =>
		String(json).replace(/("prompt": "[^"]*)"/g, `$1 [seconds: ${seconds}]"`);
	const nodes = (file.nodes as Array<{ parameters: Record<string, unknown> }>).map((node) => {
		const { parameters } = node;
		if (parameters.jsonOutput === undefined) return node;
		return { ...node, parameters: { ...parameters, jsonOutput: asked(parameters.jsonOutput) } };
	});
	return { ...file, nodes };
}
