import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { readWorkflowFile } from '../n8n/rest';
import type { WorkflowFile } from '../n8n/rest';

/** The Base URL in the examples. */
const exampleAddress = 'https://api.example.com';

/** The example about sleeping. Its generations take long enough for the execution to be suspended. */
const sleeper = 'submit-now-collect-later.json';
const sleeperSeconds = 100;

/** The sandbox that the examples run against. */
export interface Surroundings {
	baseUrl: string;
	/** Divides generation times. */
	timeScale: number;
}

/** Returns every example, in order, adapted to the sandbox. */
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

/** Returns the credential types that an example uses. */
export function credentialTypes({ nodes }: Pick<WorkflowFile, 'nodes'>): Set<string> {
	const all = nodes as Array<Pick<INode, 'credentials'>>;
	return new Set(all.flatMap(({ credentials = {} }) => Object.keys(credentials)));
}

function withAddress(file: WorkflowFile, address: string): WorkflowFile {
	return JSON.parse(JSON.stringify(file).replaceAll(exampleAddress, address)) as WorkflowFile;
}

/** Adds a `[seconds: …]` directive to the prompts in the workflow's table. */
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
